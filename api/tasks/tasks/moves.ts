import type { Task, TaskLocation } from '../../../contracts/tasks/task';
import { timerEnded } from '../../../domain/time/entries';
import type { Board, Writer } from '../../../stores/board-files/types';
import { taskChange } from './change';
import { assertLocation, assertNotRunning } from './locations';

/** A move from one location of the board to another (specification 1, "States and transitions"). */
export interface Move {
  operation: 'archive' | 'restore' | 'promote' | 'demote';
  from: TaskLocation;
  to: TaskLocation;
  /** What else the move changes; throws to refuse it. May run more than once. */
  change: (current: Task) => Partial<Task>;
  /** Whether a deleted task takes this way too. */
  evenDeleted?: boolean;
}

const staysAsItIs = (current: Task): Partial<Task> => {
  assertNotRunning(current);
  return {};
};

export const archiving: Move = {
  operation: 'archive',
  from: 'active',
  to: 'archive',
  change: (current) => ({ ...staysAsItIs(current), ...timerEnded(current, new Date()) }),
};
export const demoting: Move = { operation: 'demote', from: 'active', to: 'backlog', change: staysAsItIs };
export const promoting: Move = {
  operation: 'promote',
  from: 'backlog',
  to: 'active',
  change: (current) => taskChange({ status: 'todo' }, current),
};

/**
 * Moves a task, as one step under its lock.
 *
 * @throws AppError 404 for an unknown task, 409 for one that is elsewhere, runs, or has another revision
 */
export function moveTask(
  board: Pick<Board, 'move'>,
  id: string,
  { move, writer }: { move: Move; writer: Writer },
): Promise<Task> {
  const { operation, from, to, change, evenDeleted } = move;
  return board.move(
    id,
    (current, location) => {
      // A task that a crash prevented from being archived after its deletion is restored like the rest.
      if (current.deletedAt === undefined) {
        assertLocation(current, location, from);
      }
      return change(current);
    },
    { to, ...writer, operation, evenDeleted },
  );
}
