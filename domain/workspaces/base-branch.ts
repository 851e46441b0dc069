import type { Refusal } from '../../contracts/refusal';
import type { Repository } from '../../contracts/settings/repository';
import { refusal } from '../refusal';
import { baseBranchAdvice, isBaseBranch } from './merge-branches';

/** The refusal to make or use a worktree on a branch that only merges may move; `undefined` for every other branch. */
export const baseBranchRefusal = (
  taskId: string,
  repository: Repository,
  target: { branch: string; baseBranch: string },
): Refusal | undefined =>
  isBaseBranch(repository, target)
    ? refusal('WORKTREE_BASE_BRANCH', baseBranchAdvice(repository.name, target.branch), {
        taskId,
        repository: repository.name,
        branch: target.branch,
        path: 'git.branch',
      })
    : undefined;
