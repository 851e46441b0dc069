import { type Task, type TaskLocation, taskLocation } from '../../../contracts/tasks/task';
import type { Board } from '../../../stores/board-files/types';

/** The tasks of some locations, from memory, for searches: the limits of responses do not apply to them. */
export const listAllTasks = (
  board: Pick<Board, 'list'>,
  locations: readonly TaskLocation[] = taskLocation.options,
): { task: Task; location: TaskLocation }[] =>
  locations.flatMap((location) =>
    board.list({ limit: Number.MAX_SAFE_INTEGER }, location).tasks.map((task) => ({ task, location })),
  );
