import type { VelocityMetrics } from '../../contracts/system/metrics';
import type { Task } from '../../contracts/tasks/task';
import { completionOf } from './task-counts';

type Sprint = VelocityMetrics['sprints'][number] & { firstCreatedAt: string };

/** A change by this share is one. */
const difference = 0.1;

function sprintsOf(tasks: Iterable<Task>): Sprint[] {
  const sprints = new Map<string, Sprint>();
  for (const task of tasks) {
    if (task.sprint === undefined || task.sprint === '') {
      continue;
    }
    const { sprint, createdAt } = task;
    const sums = sprints.get(sprint) ?? {
      sprint,
      total: 0,
      completed: 0,
      lastCompletedAt: null,
      firstCreatedAt: createdAt,
    };
    const done = completionOf(task);
    sprints.set(sprint, {
      sprint,
      total: sums.total + 1,
      completed: sums.completed + Number(done !== undefined),
      lastCompletedAt: done !== undefined && done > (sums.lastCompletedAt ?? '') ? done : sums.lastCompletedAt,
      firstCreatedAt: createdAt < sums.firstCreatedAt ? createdAt : sums.firstCreatedAt,
    });
  }
  return [...sprints.values()];
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

function trendOf(completed: readonly number[]): VelocityMetrics['trend'] {
  if (completed.length < 2) {
    return 'steady';
  }
  const half = Math.floor(completed.length / 2);
  const [older, newer] = [mean(completed.slice(0, half)), mean(completed.slice(-half))];
  if (Math.abs(newer - older) < difference * Math.max(older, newer) || newer === older) {
    return 'steady';
  }
  return newer > older ? 'accelerating' : 'slowing';
}

/**
 * How many tasks of each sprint were completed, over the newest sprints. Sprints of the managed list are in its order, and others
 * before them by their first task. The current sprint, the newest one with unfinished tasks, is not a part of the average.
 *
 * @param order the names of the managed list, each by its id and its label
 */
export function velocityOf(
  tasks: Iterable<Task>,
  { order, limit }: { order: ReadonlyMap<string, number>; limit: number },
): VelocityMetrics {
  const rank = ({ sprint }: Sprint) => order.get(sprint) ?? -1;
  const sorted = sprintsOf(tasks).sort(
    (a, b) => rank(a) - rank(b) || compareText(a.firstCreatedAt, b.firstCreatedAt) || compareText(a.sprint, b.sprint),
  );
  const shown = ({ firstCreatedAt: _first, ...sprint }: Sprint) => sprint;
  const current = sorted.findLast(({ total, completed }) => completed < total);
  const sprints = sorted.filter((sprint) => sprint !== current).slice(-limit);
  return {
    sprints: sprints.map(shown),
    averageVelocity: mean(sprints.map(({ completed }) => completed)),
    trend: trendOf(sprints.map(({ completed }) => completed)),
    currentSprint: current ? shown(current) : null,
  };
}
