import type { Task } from '../../contracts/task';
import { notFound } from '../../platform/errors/app-error';
import { eachLimited } from '../../stores/board-files/each-limited';
import type { Board } from '../../stores/board-files/types';
import { assertPlace } from '../tasks/places';

/** Each change waits for the disk; more at once only fill its queue. */
const atOnce = 8;

/**
 * Gives tasks the positions 0, 1, 2, … Every task is looked for before the first is changed; one that is where it should
 * be is left as it is, so the same request again finishes one that was interrupted.
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
    const found = await board.get(id);
    if (!found) throw notFound('task', id);
    assertPlace(found.task, found.location, 'active');
    before.set(id, found.task);
  });
  const misplaced = [...order.entries()].filter(([position, id]) => before.get(id)?.position !== position);
  await eachLimited(atOnce, misplaced, async ([position, id]) => {
    const change = (current: Task, location: Parameters<typeof assertPlace>[1]): Partial<Task> => {
      assertPlace(current, location, 'active');
      return { position };
    };
    await board.update(id, change, { actor });
  });
  return order.length;
}
