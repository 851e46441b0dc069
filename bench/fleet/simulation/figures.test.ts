import { fairness, latencies, mishaps, utilisation } from './figures';
import type { Moment } from './witness';

const moment = (what: Moment['what'], attemptId: string, at: number, taskId = attemptId): Moment => ({
  what,
  attemptId,
  taskId,
  hostId: 'h',
  at,
});

/** Two runs one after the other on one host, with 20 ms between them. */
const moments = [moment('started', 'a', 100), moment('ended', 'a', 180), moment('started', 'b', 200)];

describe('figures of a simulated fleet', () => {
  test('a slot is idle from the end of a run to the start of the next one', () => {
    const { 'slot free to next agent started': idle } = latencies([], moments, 1);
    expect(idle).toEqual({ p50: 20, p99: 20, samples: 1 });
    expect(latencies([], moments, 2)['slot free to next agent started'].samples).toBe(0);
  });

  test('a host is used for as long as its agents run, until its last one begins', () => {
    expect(utilisation(moments, 1, 100)).toBeCloseTo(0.8);
    expect(utilisation([], 1, 100)).toBe(0);
  });

  test('fairness is that of the turns at each host in the order of dispatch', () => {
    const dispatched = (hostId: string, ...workspaces: string[]) =>
      workspaces.map((workspaceId, dispatchedAt) => ({
        attemptId: `${hostId}-${dispatchedAt}`,
        workspaceId,
        hostId,
        enqueuedAt: 0,
        reservedAt: 0,
        dispatchedAt,
      }));
    const shares = fairness([...dispatched('h', 'y', 'x', 'x').toReversed(), ...dispatched('g', 'x', 'x', 'y')]);
    expect(shares.index).toBeCloseTo(0.9);
    expect(shares.shares).toEqual([
      ['x', 4 / 3],
      ['y', 2 / 3],
    ]);
  });

  test('counts tasks that are lost, and tasks and attempts that ran twice', () => {
    const seen = [
      ...moments,
      moment('recorded', 'a', 190),
      moment('started', 'b', 210),
      moment('ended', 'c', 220, 'task'),
      moment('ended', 'd', 230, 'task'),
    ];
    expect(mishaps(['a', 'b'], seen)).toEqual({ lost: 1, 'run twice': 1, 'started twice': 1 });
  });
});
