import type { Task } from '../../contracts/tasks/task';
import { completionOf } from './task-counts';

/** A stretch of work, in milliseconds. */
export interface Stretch {
  from: number;
  to: number;
}

/** A task with the time that was worked on it. */
export interface Work {
  task: Task;
  /** Within the period, in their order, without overlaps. */
  stretches: Stretch[];
  /** Before they were restricted to the period. */
  begin: number;
  end: number;
  isRunning: boolean;
}

/** Time entries where there are any; otherwise the time between its start and its end. */
function rawStretches(task: Task, now: number): (Stretch & { isRunning: boolean })[] {
  const entries = task.timeTracking?.entries ?? [];
  if (entries.length > 0) {
    return entries.map(({ startTime, endTime }) => ({
      from: Date.parse(startTime),
      to: endTime === undefined ? now : Date.parse(endTime),
      isRunning: endTime === undefined,
    }));
  }
  if (task.startedAt === undefined) {
    return [];
  }
  const isRunning = task.status === 'in-progress';
  const end = isRunning ? now : Date.parse(completionOf(task) ?? task.updatedAt);
  return [{ from: Date.parse(task.startedAt), to: end, isRunning }];
}

/** The same time without overlaps, in order. */
export function union(stretches: readonly Stretch[]): Stretch[] {
  const merged: Stretch[] = [];
  for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to) {
      last.to = Math.max(last.to, to);
    } else if (to > from) {
      merged.push({ from, to });
    }
  }
  return merged;
}

export const lengthOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((total, { from, to }) => total + to - from, 0);

/** The work on a task within bounds; `undefined` when there is none. */
export function workOn(task: Task, { from, to }: Stretch, now: number): Work | undefined {
  const raw = rawStretches(task, now);
  const clipped = raw.map((one) => ({ from: Math.max(one.from, from), to: Math.min(one.to, to) }));
  const stretches = union(clipped.filter((one) => one.to > one.from));
  if (stretches.length === 0) {
    return undefined;
  }
  return {
    task,
    stretches,
    begin: raw.reduce((least, one) => Math.min(least, one.from), Infinity),
    end: raw.reduce((most, one) => Math.max(most, one.to), -Infinity),
    isRunning: raw.some(({ isRunning }) => isRunning),
  };
}

/** How many tasks are worked on from a moment on, until the next one. */
export interface ConcurrencyChange {
  at: number;
  count: number;
  /** Some of these tasks. */
  taskIds: string[];
}

export interface Concurrency {
  max: number;
  /** Between the first and the last work. */
  min: number;
  average: number;
  span: Stretch | undefined;
  changes: ConcurrencyChange[];
}

/** How many tasks were worked on at a time. Work that ends when other work begins is not at the same time. */
export function concurrencyOf(works: readonly Work[], limits: { changes: number; taskIds: number }): Concurrency {
  const edges = works
    .flatMap(({ task, stretches }) =>
      stretches.flatMap(({ from, to }) => [
        { at: from, by: 1, id: task.id },
        { at: to, by: -1, id: task.id },
      ]),
    )
    .sort((a, b) => a.at - b.at || a.by - b.by);
  const [first, last] = [edges[0], edges.at(-1)];
  if (!first || !last) {
    return { max: 0, min: 0, average: 0, span: undefined, changes: [] };
  }
  const running = new Set<string>();
  const changes: ConcurrencyChange[] = [];
  let [max, min] = [0, Infinity];
  edges.forEach(({ at, by, id }, index) => {
    if (by > 0) {
      running.add(id);
    } else {
      running.delete(id);
    }
    if (edges[index + 1]?.at === at) {
      return;
    }
    max = Math.max(max, running.size);
    if (at < last.at) {
      min = Math.min(min, running.size);
    }
    if (changes.length <= limits.changes) {
      changes.push({ at, count: running.size, taskIds: [...running].slice(0, limits.taskIds) });
    }
  });
  const busy = works.reduce((total, { stretches }) => total + lengthOf(stretches), 0);
  const span = { from: first.at, to: last.at };
  return { max, min, average: busy / (span.to - span.from), span, changes };
}
