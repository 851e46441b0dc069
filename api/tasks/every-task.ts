import { taskLocation, type Task, type TaskLocation } from '../../contracts/task';
import type { Board } from '../../stores/board-files/types';

/** The tasks of some places, from memory, for what looks through them: the limits of answers do not hold for that. */
export const everyTask = (
  board: Pick<Board, 'list'>,
  locations: readonly TaskLocation[] = taskLocation.options,
): { task: Task; location: TaskLocation }[] =>
  locations.flatMap((location) =>
    board.list({ limit: Number.MAX_SAFE_INTEGER }, location).tasks.map((task) => ({ task, location })),
  );
