import type { Task } from '../../../contracts/tasks/task';
import { branchOf } from '../../../domain/contract';
import { baseBranchAdvice, isBaseBranch } from '../../../domain/workspaces/merge-branches';
import { conflict, validationError } from '../../../platform/errors/app-error';
import type { ActiveRunStore } from '../../runs/admission/active-run-store';
import type { RepositoryStore } from '../../settings/repository-store';
import type { Board, TaskChange } from '../types';
import { wrappedBoard } from './wrapped-board';

/** What the branch of a task depends on. */
export interface BranchSources {
  repositories: Pick<RepositoryStore, 'list'>;
  activeRuns: Pick<ActiveRunStore, 'holder'>;
}

/**
 * The same board, on which no change sets a branch that only merges may move (`isBaseBranch`), and none the repository or the
 * branch of a task whose run waits or works: its worktree is made from them. A task that already has a branch of the first
 * kind can be changed otherwise; no run starts on it.
 *
 * Refusals are `AppError` 400 with the path `git.branch`, and 409 with the attempt.
 */
export function branchedBoard(board: Board, { repositories, activeRuns }: BranchSources): Board {
  async function guarded(id: string, change: TaskChange): Promise<TaskChange> {
    const [configured, holder] = await Promise.all([repositories.list(), activeRuns.holder(id)]);
    return (current, location) => {
      const fields = change(current, location);
      if ('git' in fields && JSON.stringify(fields.git) !== JSON.stringify(current.git)) {
        assertNotInUse(current, fields.git, holder);
        assertBranch(fields.git ?? {}, configured);
      }
      return fields;
    };
  }
  return wrappedBoard(board, {
    async create(input, options) {
      if (input.git?.branch !== undefined) {
        assertBranch(input.git, await repositories.list());
      }
      return board.create(input, options);
    },
    update: async (id, change, writer) => board.update(id, await guarded(id, change), writer),
    move: async (id, change, mover) => board.move(id, await guarded(id, change), mover),
  });
}

function assertNotInUse({ id, git, attempt }: Task, wanted: Task['git'], holder: string | undefined): void {
  const isSame = wanted?.repo === git?.repo && branchOf({ id, git: wanted }) === branchOf({ id, git });
  if (holder === undefined || isSame) {
    return;
  }
  throw conflict(`The run ${holder} uses the repository and the branch of task ${id}; stop it or wait for its end.`, {
    resourceType: 'task',
    resourceId: id,
    attemptId: holder,
    attempt,
    git,
  });
}

function assertBranch(
  { repo, branch, baseBranch }: NonNullable<Task['git']>,
  configured: Awaited<ReturnType<RepositoryStore['list']>>,
): void {
  const repository = configured.find(({ name }) => name === repo);
  if (!repository || branch === undefined) {
    return;
  }
  if (!isBaseBranch(repository, { branch, baseBranch: baseBranch ?? repository.defaultBranch })) {
    return;
  }
  throw validationError([{ path: 'git.branch', message: baseBranchAdvice(repository.name, branch) }]);
}
