import { Context } from '@temporalio/activity';
import type { Refusal } from '../../../contracts/refusal';
import type { Repository } from '../../../contracts/settings/repository';
import { refusal } from '../../../domain/refusal';
import { GitError } from '../../../providers/git/git-error';

/** What no repetition helps against. */
const lasting: readonly GitError['code'][] = [
  ...(['not-a-repository', 'unknown-ref', 'conflict', 'worktree-replaced', 'repository-diverted'] as const),
];
/** How often anything else is tried before the caller gets the failure. */
const tries = 4;

/** The refusal that a lasting problem of the repository is; a passing one is thrown, so that it is tried again. */
export function repositoryProblem(repository: Repository, error: unknown): Refusal {
  if (!(error instanceof GitError)) {
    throw error;
  }
  if (!lasting.includes(error.code) && Context.current().info.attempt < tries) {
    throw error;
  }
  return refusal('REPOSITORY_UNAVAILABLE', `The repository ${repository.name} cannot be used: ${error.message}`, {
    repository: repository.name,
    reason: error.code,
    remediation:
      error.code === 'conflict'
        ? 'Put the worktree back as the message describes, then start again.'
        : 'Check its path and branches with GET /api/config/repos.',
  });
}
