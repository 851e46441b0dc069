import { percentile } from '../../latency';
import { grouped } from '../grouped';
import { contestedShares, jainIndex } from '../jain';
import type { Moment } from './witness';

/** A launch as the stores have it once it was dispatched. */
export interface Dispatched {
  attemptId: string;
  workspaceId: string;
  hostId: string | null;
  enqueuedAt: number;
  reservedAt: number;
  dispatchedAt: number;
}

export interface Percentiles {
  p50: number;
  p99: number;
  samples: number;
}

const percentilesOf = (samples: readonly number[]): Percentiles => ({
  p50: Math.round(percentile(samples, 0.5)),
  p99: Math.round(percentile(samples, 0.99)),
  samples: samples.length,
});

const timesOf = (moments: readonly Moment[], what: Moment['what']): number[] =>
  moments
    .filter((moment) => moment.what === what)
    .map(({ at }) => at)
    .sort((a, b) => a - b);

const groupsOf = (moments: readonly Moment[], by: (moment: Moment) => string): Moment[][] => [
  ...grouped(moments, by).values(),
];

/** How long launches waited, in milliseconds: in the queue, from their capacity to their agent, and slots for the next agent. */
export function latencies(dispatched: readonly Dispatched[], moments: readonly Moment[], slots: number) {
  const startedAt = new Map(
    moments.filter(({ what }) => what === 'started').map(({ attemptId, at }) => [attemptId, at]),
  );
  return {
    'in the queue': percentilesOf(dispatched.map(({ enqueuedAt, dispatchedAt }) => dispatchedAt - enqueuedAt)),
    'reserved to agent started': percentilesOf(
      dispatched.flatMap(({ attemptId, reservedAt }) => (startedAt.get(attemptId) ?? NaN) - reservedAt || []),
    ),
    'slot free to next agent started': percentilesOf(
      groupsOf(moments, ({ hostId }) => `${hostId}`).flatMap((host) => idleTimes(host, slots)),
    ),
  };
}

/** How long each slot of a host was empty before the next run began in it. */
function idleTimes(moments: readonly Moment[], slots: number): number[] {
  const starts = timesOf(moments, 'started');
  return timesOf(moments, 'ended').flatMap((end, at) => {
    const next = starts[at + slots];
    return next === undefined ? [] : [next - end];
  });
}

/** The share of their slots that hosts used from `since` on, each until its last run began: until then it had a queue. */
export function utilisation(moments: readonly Moment[], slots: number, since: number): number {
  let used = 0;
  let available = 0;
  for (const host of groupsOf(moments, ({ hostId }) => `${hostId}`)) {
    const until = timesOf(host, 'started').at(-1) ?? since;
    available += slots * (until - since);
    for (const attempt of groupsOf(host, ({ attemptId }) => attemptId)) {
      const from = attempt.find(({ what }) => what === 'started')?.at ?? until;
      const to = attempt.find(({ what }) => what === 'ended')?.at ?? until;
      used += Math.max(0, Math.min(to, until) - from);
    }
  }
  return available === 0 ? 0 : used / available;
}

/**
 * Jain's index of the shares that workspaces received of the turns that they competed for, and these shares by their names. A
 * launch belongs to its host: it competes with those that wait for the same one.
 */
export function fairness(dispatched: readonly Dispatched[]): { index: number; shares: [string, number][] } {
  const inOrder = dispatched.toSorted((a, b) => a.dispatchedAt - b.dispatchedAt);
  const places = grouped(inOrder, ({ hostId }) => hostId).values();
  const shares = contestedShares([...places].map((turns) => turns.map(({ workspaceId }) => workspaceId)));
  return { index: jainIndex([...shares.values()]), shares: [...shares].toSorted(([a], [b]) => (a < b ? -1 : 1)) };
}

/** What must not happen: tasks without a recorded end, and tasks or attempts whose agent ended or started more than once. */
export function mishaps(taskIds: readonly string[], moments: readonly Moment[]) {
  const count = (what: Moment['what'], by: (moment: Moment) => string) =>
    grouped(
      moments.filter((moment) => moment.what === what),
      by,
    );
  const recorded = count('recorded', ({ taskId }) => taskId);
  const more = (groups: Map<string, Moment[]>) => [...groups.values()].filter(({ length }) => length > 1).length;
  return {
    lost: taskIds.filter((taskId) => !recorded.has(taskId)).length,
    'run twice': more(count('ended', ({ taskId }) => taskId)),
    'started twice': more(count('started', ({ attemptId }) => attemptId)),
  };
}
