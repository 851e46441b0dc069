import type { LaunchRefusal } from '../../contracts/launch';
import type { Repository } from '../../contracts/repository';
import { refusal } from '../refusal';
import { baseBranchAdvice, isBaseBranch } from './merge-branches';

/** The refusal to make or use a worktree on a branch that only merges may move; `undefined` for every other branch. */
export const baseBranchRefusal = (
  taskId: string,
  repository: Repository,
  target: { branch: string; baseBranch: string },
): LaunchRefusal | undefined =>
  isBaseBranch(repository, target)
    ? refusal('WORKTREE_BASE_BRANCH', 409, baseBranchAdvice(repository.name, target.branch), {
        taskId,
        repository: repository.name,
        branch: target.branch,
        path: 'git.branch',
      })
    : undefined;
