import type { Period } from '../../contracts/period';
import { type Timeline, timelineLimits } from '../../contracts/system/analytics';
import { compact } from '../../platform/json/compact';
import { concurrencyOf, lengthOf, type Work } from './work';

const iso = (at: number): string => new Date(at).toISOString();

function shownTask({ task, stretches, begin, end, isRunning }: Work): Timeline['tasks'][number] {
  const { id, title, project, sprint, agent, status } = task;
  return {
    ...{ id, title, status, ...compact({ project, sprint, agent }) },
    startTime: iso(begin),
    ...(isRunning ? {} : { endTime: iso(end) }),
    durationSeconds: Math.round(lengthOf(stretches) / 1_000),
    timeEntries: (task.timeTracking?.entries ?? [])
      .filter(({ startTime, endTime }) => {
        const [from, to] = [Date.parse(startTime), endTime === undefined ? Infinity : Date.parse(endTime)];
        return stretches.some((stretch) => from < stretch.to && to > stretch.from);
      })
      .slice(0, timelineLimits.entries)
      .map(({ startTime, endTime }) => ({ startTime, ...compact({ endTime }) })),
  };
}

/** The work of a period, task by task, and how much of it was done at a time. */
export function timelineOf(works: readonly Work[], period: Period, limit: number): Timeline {
  const sorted = [...works].sort((a, b) => a.begin - b.begin || (a.task.id < b.task.id ? -1 : 1));
  const { max, average, span, changes } = concurrencyOf(works, timelineLimits);
  return {
    period,
    tasks: sorted.slice(0, limit).map(shownTask),
    parallelism: changes
      .slice(0, timelineLimits.changes)
      .map(({ at, count, taskIds }) => ({ timestamp: iso(at), concurrentTaskCount: count, taskIds })),
    summary: {
      totalTasks: works.length,
      maxConcurrency: max,
      averageConcurrency: average,
      timelineStartTime: span ? iso(span.from) : null,
      timelineEndTime: span ? iso(span.to) : null,
    },
    truncated: works.length > limit || changes.length > timelineLimits.changes,
  };
}
