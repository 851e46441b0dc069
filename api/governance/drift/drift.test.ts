import fc from 'fast-check';
import type { TelemetryEvent } from '../../../contracts/system/telemetry';
import { alarming, compare } from './deviation';
import { samplesOf } from './samples';

const at = '2026-11-20T12:00:00.000Z';
const samples = (...values: number[]) => values.map((value) => ({ value, at }));
const times = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

describe('comparing', () => {
  it('reports nothing of a few samples', () => {
    expect(compare(samples(...times(14, 1)))).not.toHaveProperty('deviation');
    expect(compare([])).toMatchObject({ baseline: { mean: 0, sampleSize: 0 }, current: { sampleSize: 0 } });
  });

  it('finds what is as always unremarkable', () => {
    const { deviation } = compare(samples(...times(15, 3)));
    expect(deviation).toBe(0);
    expect(alarming(0)).toBeUndefined();
  });

  it('measures in standard errors', () => {
    const before = [8, 12, 8, 12, 8, 12, 8, 12, 8, 12];
    const { baseline, deviation } = compare(samples(...times(5, 14), ...before));
    expect(baseline).toMatchObject({ mean: 10, standardDeviation: expect.closeTo(2.108, 3), sampleSize: 10 });
    expect(deviation).toBeCloseTo(4 / (2.1082 / Math.sqrt(5)), 3);
  });

  it('does not take the first small difference for the end of the world', () => {
    const { deviation = 0 } = compare(samples(...times(5, 101), ...times(20, 100)));
    expect(alarming(deviation)).toBeUndefined();
  });

  it.each([
    [2.4, undefined],
    [2.5, 'info'],
    [-3, 'warning'],
    [4, 'critical'],
  ])('takes a deviation of %d for %s', (deviation, severity) => {
    expect(alarming(deviation)?.severity).toBe(severity);
  });

  it('never answers what is no number', () => {
    const value = fc.double({ min: 0, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 40 }), (values) => {
        const { baseline, current, deviation = 0 } = compare(samples(...values));
        for (const one of [...Object.values(baseline), ...Object.values(current), deviation]) {
          expect(Number.isFinite(one)).toBe(true);
        }
      }),
    );
  });
});

describe('samples', () => {
  const event = (fields: Partial<TelemetryEvent>): TelemetryEvent => ({
    id: 'event_1',
    type: 'run.tokens',
    timestamp: at,
    ...fields,
  });
  const none = { started: [], completed: [], tokens: [] };
  const now = new Date('2026-11-22T08:00:00.000Z');
  const values = (...args: Parameters<typeof samplesOf>) => samplesOf(...args).map(({ value }) => value);

  it('add up the reports of an attempt', () => {
    const tokens = [
      event({ attemptId: 'a', inputTokens: 10, outputTokens: 5, cost: 1 }),
      event({ attemptId: 'a', inputTokens: 1, outputTokens: 1, cost: 0.5 }),
      event({ id: 'event_2', cost: 2 }),
    ];
    expect(values('cost', { ...none, tokens }, now)).toEqual([1.5, 2]);
    expect(values('token_usage', { ...none, tokens }, now)).toEqual([17, 0]);
  });

  it('are durations and successes of runs', () => {
    const completed = [event({ durationMs: 7, success: true }), event({ durationMs: 9, success: false })];
    expect(values('duration', { ...none, completed }, now)).toEqual([7, 9]);
    expect(values('success_rate', { ...none, completed }, now)).toEqual([1, 0]);
  });

  it('are runs of whole days, also of those without one', () => {
    const started = ['2026-11-22T01:00:00.000Z', '2026-11-20T09:00:00.000Z', '2026-11-20T08:00:00.000Z'].concat(
      '2026-11-19T23:00:00.000Z',
    );
    const events = started.map((timestamp) => event({ timestamp }));
    expect(values('action_frequency', { ...none, started: events }, now)).toEqual([0, 2]);
    expect(values('action_frequency', none, now)).toEqual([]);
  });
});
