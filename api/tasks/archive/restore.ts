import type { RestoreMetadata } from '../../../contracts/tasks/archive';
import type { Task } from '../../../contracts/tasks/task';
import { isOpen } from '../../../domain/review/open-review';
import { notFound } from '../../../platform/errors/app-error';
import type { Board, Writer } from '../../../stores/board-files/types';
import { taskChange } from '../tasks/change';
import { moveTask } from '../tasks/moves';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The metadata of a task's deletion in its file; a person may have written it. */
function metadataOf({ deletedAt, deletedBy, purgeAfter }: Task): RestoreMetadata {
  return {
    restoredFromDelete: deletedAt !== undefined,
    deletedAt: textOf(deletedAt),
    deletedBy: textOf(deletedBy),
    purgeAfter: textOf(purgeAfter),
  };
}

const isPurged = ({ restoredFromDelete, purgeAfter }: RestoreMetadata, now: Date): boolean =>
  restoredFromDelete && purgeAfter !== undefined && Date.parse(purgeAfter) <= now.getTime();

/**
 * Brings an archived task, or a deleted one until its `purgeAfter`, back to the board: as done, or with an open review as
 * in-progress, so that the review can be decided.
 *
 * @throws AppError 404 for a task that is not there or to be purged, 409 for one that is not in the archive
 */
export async function restoreTask(
  board: Pick<Board, 'move'>,
  id: string,
  { writer, now }: { writer: Writer; now: Date },
): Promise<{ task: Task; metadata: RestoreMetadata }> {
  let metadata: RestoreMetadata = { restoredFromDelete: false };
  const change = (current: Task): Partial<Task> => {
    metadata = metadataOf(current);
    if (isPurged(metadata, now)) {
      throw notFound('task', id);
    }
    const undeleted = { deletedAt: undefined, deletedBy: undefined, purgeAfter: undefined };
    const status = isOpen(current.review) ? 'in-progress' : 'done';
    return { ...taskChange({ status }, current), ...undeleted };
  };
  const restoring = { operation: 'restore', from: 'archive', to: 'active', change, evenDeleted: true } as const;
  const task = await moveTask(board, id, { move: restoring, writer });
  return { task, metadata };
}
