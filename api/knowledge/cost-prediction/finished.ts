import type { Task } from '../../../contracts/tasks/task';
import type { Board } from '../../../stores/board-files/types';
import type { TelemetryStore } from '../../../stores/system/telemetry-store';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import type { Finished, Likeness } from './predict';

/** How many of the newest reports of runs are read, and as many of their usage. */
const lookedAt = 5_000;

export const likenessOf = ({ type, priority, project, subtasks, description }: Task): Likeness => ({
  type,
  priority,
  project,
  subtaskCount: subtasks.length,
  descriptionLength: description.length,
});

/** Adds up an amount by task. */
function byTask(events: readonly { taskId?: string | undefined }[], amounts: readonly number[]): Map<string, number> {
  const sums = new Map<string, number>();
  events.forEach(({ taskId }, at) => {
    if (taskId !== undefined) {
      sums.set(taskId, (sums.get(taskId) ?? 0) + (amounts[at] ?? 0));
    }
  });
  return sums;
}

/** The cost of the finished tasks, whatever their location; those without a report are left out. */
export async function finishedTasks(
  { board, telemetry }: { board: Pick<Board, 'list'>; telemetry: Pick<TelemetryStore, 'list'> },
  except?: string,
): Promise<Finished[]> {
  const [{ items: runs }, { items: tokens }] = await Promise.all([
    telemetry.list({ type: 'run.completed' }, { limit: lookedAt }),
    telemetry.list({ type: 'run.tokens' }, { limit: lookedAt }),
  ]);
  const durations = byTask(
    runs,
    runs.map(({ durationMs = 0 }) => durationMs),
  );
  const used = byTask(
    tokens,
    tokens.map(({ inputTokens = 0, outputTokens = 0 }) => inputTokens + outputTokens),
  );
  const done = listAllTasks(board, ['active', 'archive']).filter(
    ({ task }) => task.status === 'done' && task.id !== except,
  );
  return done
    .map(({ task }) => ({
      ...likenessOf(task),
      cost: task.actualCost,
      tokens: used.get(task.id),
      durationMs: durations.get(task.id),
    }))
    .filter((one) => one.cost !== undefined || one.tokens !== undefined || one.durationMs !== undefined);
}
