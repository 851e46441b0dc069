import type { Task } from '../../../contracts/tasks/task';
import type { TimeSummary } from '../../../contracts/tasks/time';
import { trackedSeconds } from '../../../domain/time/entries';

const noProject = '(No Project)';

/** Adds up the time of tasks by their project; tasks without time do not count. */
export function timeByProject(tasks: Iterable<Task>): TimeSummary {
  const byProject = new Map<string, { totalSeconds: number; taskCount: number }>();
  let total = 0;
  for (const { project = noProject, timeTracking } of tasks) {
    const seconds = trackedSeconds(timeTracking?.entries ?? []);
    if (seconds === 0) {
      continue;
    }
    const { totalSeconds, taskCount } = byProject.get(project) ?? { totalSeconds: 0, taskCount: 0 };
    byProject.set(project, { totalSeconds: totalSeconds + seconds, taskCount: taskCount + 1 });
    total += seconds;
  }
  const sorted = [...byProject]
    .map(([project, sums]) => ({ project, ...sums }))
    .sort((a, b) => b.totalSeconds - a.totalSeconds || (a.project < b.project ? -1 : 1));
  return { byProject: sorted, total };
}
