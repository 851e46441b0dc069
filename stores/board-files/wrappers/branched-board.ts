import type { Task } from '../../../contracts/tasks/task';
import { baseBranchAdvice, isBaseBranch } from '../../../domain/workspaces/merge-branches';
import { validationError } from '../../../platform/errors/app-error';
import type { RepositoryStore } from '../../settings/repository-store';
import type { Board, TaskChange } from '../types';
import { wrappedBoard } from './wrapped-board';

/**
 * The same board, on which no change sets a branch that only merges may move (`isBaseBranch`). A task that already has one can
 * be changed otherwise; no run starts on it.
 *
 * Refusals are `AppError` 400 with the path `git.branch`.
 */
export function branchedBoard(board: Board, repositories: Pick<RepositoryStore, 'list'>): Board {
  async function guarded(change: TaskChange): Promise<TaskChange> {
    const configured = await repositories.list();
    return (current, location) => {
      const fields = change(current, location);
      if (fields.git && JSON.stringify(fields.git) !== JSON.stringify(current.git)) {
        assertBranch(fields.git, configured);
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
    update: async (id, change, writer) => board.update(id, await guarded(change), writer),
    move: async (id, change, mover) => board.move(id, await guarded(change), mover),
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
