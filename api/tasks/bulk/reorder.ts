import type { Task } from '../../../contracts/tasks/task';
import { notFound } from '../../../platform/errors/app-error';
import { eachLimited } from '../../../stores/board-files/format/each-limited';
import type { Board } from '../../../stores/board-files/types';
import { assertLocation } from '../tasks/locations';

/** Each change waits for the disk; more at once only fill its queue. */
const atOnce = 8;

/**
 * Gives tasks the positions 0, 1, 2, … Every task is read before the first is changed; one at its position is not changed, so
 * the same request again finishes one that was interrupted.
 *
 * @returns how many tasks have their position now
 * @throws AppError 404 for an unknown task, 409 for one that is not on the active board
 */
export async function reorder(
  board: Pick<Board, 'get' | 'update'>,
  ids: readonly string[],
  actor: string,
): Promise<number> {
  const order = [...new Set(ids)];
  const before = new Map<string, Task>();
  await eachLimited(atOnce, order, async (id) => {
    const task = await board.get(id);
    if (!task) {
      throw notFound('task', id);
    }
    assertLocation(task.task, task.location, 'active');
    before.set(id, task.task);
  });
  const misplaced = [...order.entries()].filter(([position, id]) => before.get(id)?.position !== position);
  await eachLimited(atOnce, misplaced, async ([position, id]) => {
    const change = (current: Task, location: Parameters<typeof assertLocation>[1]): Partial<Task> => {
      assertLocation(current, location, 'active');
      return { position };
    };
    await board.update(id, change, { actor });
  });
  return order.length;
}
