import fc from 'fast-check';
import { agentState } from '../../../contracts/chat/agent-status';
import type { StatusChange } from '../../../contracts/tasks/status-history';
import { summariseDay } from './summary';

const late = new Date('2026-12-01T00:00:00.000Z');
const change = (timestamp: string, newStatus: StatusChange['newStatus']): StatusChange => ({
  id: timestamp,
  timestamp,
  previousStatus: 'idle',
  newStatus,
});

describe('status summary', () => {
  it('counts the time from the first known change to the end of the day', () => {
    const changes = [change('2026-11-22T06:00:00.000Z', 'working'), change('2026-11-22T08:00:00.000Z', 'error')];
    expect(summariseDay('2026-11-22', { changes, before: undefined, now: late })).toMatchObject({
      activeMs: 2 * 3_600_000,
      errorMs: 16 * 3_600_000,
      idleMs: 0,
      transitions: 2,
    });
  });

  it('begins with what held before the day, and ends now', () => {
    const before = change('2026-11-20T00:00:00.000Z', 'thinking');
    const { activeMs, periods } = summariseDay('2026-11-22', {
      changes: [],
      before,
      now: new Date('2026-11-22T01:00:00.000Z'),
    });
    expect(activeMs).toBe(3_600_000);
    expect(periods).toEqual([
      expect.objectContaining({ startTime: '2026-11-22T00:00:00.000Z', endTime: '2026-11-22T01:00:00.000Z' }),
    ]);
  });

  it('counts nothing of a day to come', () => {
    const before = change('2026-11-20T00:00:00.000Z', 'working');
    expect(summariseDay('2027-01-01', { changes: [], before, now: late })).toMatchObject({
      activeMs: 0,
      idleMs: 0,
      errorMs: 0,
    });
  });

  it('accounts for every millisecond once something is known', () => {
    const start = Date.parse('2026-11-22T00:00:00.000Z');
    const times = fc.array(fc.integer({ min: 0, max: 86_399_999 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(
        times,
        fc.array(fc.constantFrom(...agentState.options), { minLength: 20, maxLength: 20 }),
        (at, states) => {
          const sorted = [...at].sort((a, b) => a - b);
          const changes = sorted.map((ms, index) =>
            change(new Date(start + ms).toISOString(), states[index] ?? 'idle'),
          );
          const { activeMs, idleMs, errorMs } = summariseDay('2026-11-22', { changes, before: undefined, now: late });
          expect(activeMs + idleMs + errorMs).toBe(86_400_000 - (sorted[0] ?? 0));
        },
      ),
    );
  });
});
