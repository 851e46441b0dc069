import fc from 'fast-check';
import type { TimeTracking } from '../../../contracts/tasks/time';
import { AppError } from '../../../platform/errors/app-error';
import { noted, started, stopped, withoutEntry } from './tracking';

const at = (ms: number): Date => new Date(Date.UTC(2026, 0, 1) + ms);

describe('time tracking', () => {
  it('measures from start to stop', () => {
    const running = started(undefined, 'time_1', at(0));
    expect(running).toEqual({
      entries: [{ id: 'time_1', startTime: '2026-01-01T00:00:00.000Z' }],
      totalSeconds: 0,
      isRunning: true,
      activeEntryId: 'time_1',
    });
    expect(stopped(running, at(61_999))).toEqual({
      entries: [
        {
          id: 'time_1',
          startTime: '2026-01-01T00:00:00.000Z',
          endTime: '2026-01-01T00:01:01.999Z',
          duration: 61,
          durationMs: 61_999,
        },
      ],
      totalSeconds: 61,
      isRunning: false,
    });
  });

  it('counts no time below nothing when the clock was set back', () => {
    expect(stopped(started(undefined, 'a', at(5000)), at(0))).toMatchObject({ totalSeconds: 0, isRunning: false });
  });

  it('mends a total that a hand has written', () => {
    const wrong: TimeTracking = {
      entries: [],
      totalSeconds: 999,
      isRunning: true,
      activeEntryId: 'gone',
      note: 'mine',
    };
    expect(started(wrong, 'a', at(0))).toMatchObject({ totalSeconds: 0, activeEntryId: 'a', note: 'mine' });
  });

  type Step = { do: 'start' } | { do: 'stop' } | { do: 'note'; durationMs: number } | { do: 'remove'; which: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.constantFrom<Step>({ do: 'start' }, { do: 'stop' }),
    fc.record({ do: fc.constant('note' as const), durationMs: fc.integer({ min: 1, max: 1e9 }) }),
    fc.record({ do: fc.constant('remove' as const), which: fc.nat(20) }),
  );

  function apply(
    before: TimeTracking | undefined,
    taken: Step,
    { id, now }: { id: string; now: Date },
  ): TimeTracking | undefined {
    try {
      if (taken.do === 'start') {
        return started(before, id, now);
      }
      if (taken.do === 'stop') {
        return stopped(before, now);
      }
      if (taken.do === 'note') {
        return noted(before, taken, { id, now });
      }
      return withoutEntry(before, before?.entries[taken.which]?.id ?? 'none');
    } catch (error) {
      if (error instanceof AppError) {
        return before;
      }
      throw error;
    }
  }

  it('has totals that are the sum of its entries, and at most one that runs, whatever was done', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.integer({ min: -5000, max: 100_000 }))), (steps) => {
        let now = 0;
        let tracking: TimeTracking | undefined;
        for (const [index, [taken, passed]] of steps.entries()) {
          now += passed;
          tracking = apply(tracking, taken, { id: `time_${index}`, now: at(now) });
          const entries = tracking?.entries ?? [];
          const running = entries.filter(({ endTime }) => endTime === undefined);
          expect(tracking?.totalSeconds ?? 0).toBe(entries.reduce((sum, { duration = 0 }) => sum + duration, 0));
          expect(running.map(({ id }) => id)).toEqual(tracking?.isRunning ? [tracking.activeEntryId] : []);
        }
      }),
    );
  });
});
