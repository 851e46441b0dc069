import type { Period } from '../../contracts/period';
import type { BoardMetrics } from '../../contracts/system/analytics';
import { maxListedAgents } from '../../contracts/system/metrics';
import type { Task } from '../../contracts/tasks/task';
import { Groups } from './groups';
import { completionOf, isWithin } from './task-counts';
import { concurrencyOf, lengthOf, type Stretch, union, type Work } from './work';

const iso = (at: number): string => new Date(at).toISOString();
const seconds = (ms: number): number => Math.round(ms / 1_000);

/** The mean time between two moments of tasks, in seconds, of those that have both in this order. */
function meanTime(tasks: readonly Task[], ends: (task: Task) => [from: string | undefined, to: string | undefined]) {
  const times = tasks.flatMap((task) => {
    const [from, to] = ends(task);
    return from === undefined || to === undefined || to < from ? [] : [Date.parse(to) - Date.parse(from)];
  });
  return times.length === 0 ? null : seconds(times.reduce((total, one) => total + one, 0) / times.length);
}

function byAgent(works: readonly Work[], completed: ReadonlySet<Task>): BoardMetrics['agentUtilization'] {
  const agents = new Groups(() => ({ from: Infinity, to: -Infinity, busy: 0, completed: 0 }), maxListedAgents);
  for (const { task, stretches } of works) {
    const sums = task.agent === undefined ? undefined : agents.of(task.agent);
    if (sums) {
      sums.from = Math.min(sums.from, stretches[0]?.from ?? sums.from);
      sums.to = Math.max(sums.to, stretches.at(-1)?.to ?? sums.to);
      sums.busy += lengthOf(stretches);
      sums.completed += Number(completed.has(task));
    }
  }
  return agents
    .sorted(({ busy }) => busy)
    .map(([agent, { from, to, busy, completed: tasksCompleted }]) => ({
      ...{ agent, startTime: iso(from), endTime: iso(to), durationSeconds: seconds(to - from), tasksCompleted },
      totalTaskDurationSeconds: seconds(busy),
    }));
}

/**
 * Throughput, lead times and concurrency of a period.
 *
 * @param bounds of the period, also where it has no beginning
 */
export function boardMetricsOf(
  tasks: readonly Task[],
  { works, period, bounds }: { works: readonly Work[]; period: Period; bounds: Stretch },
): BoardMetrics {
  const completed = tasks.filter((task) => isWithin(period, completionOf(task)));
  const { max, min, average } = concurrencyOf(works, { changes: 0, taskIds: 0 });
  const busy = works.reduce((total, { stretches }) => total + lengthOf(stretches), 0);
  const anyWork = lengthOf(union(works.flatMap(({ stretches }) => stretches)));
  const completionTime = meanTime(completed, (task) => [task.createdAt, completionOf(task)]);
  return {
    period,
    parallelism: { averageConcurrency: average, maxConcurrency: max, minConcurrency: min },
    throughput: {
      tasksCompleted: completed.length,
      tasksCreated: tasks.filter(({ createdAt }) => isWithin(period, createdAt)).length,
      averageCompletionTime: completionTime,
    },
    leadTime: {
      fromTodoToDone: completionTime,
      fromCreatedToStarted: meanTime(completed, ({ createdAt, startedAt }) => [createdAt, startedAt]),
      fromStartedToDone: meanTime(completed, (task) => [task.startedAt, completionOf(task)]),
    },
    agentUtilization: byAgent(works, new Set(completed)),
    efficiency: {
      totalTrackedTime: seconds(busy),
      totalTaskCount: works.length,
      averageTimePerTask: works.length === 0 ? 0 : seconds(busy / works.length),
      utilizationRate: anyWork / (bounds.to - bounds.from),
    },
  };
}
