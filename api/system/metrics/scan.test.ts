import type { Period } from '../../../contracts/period';
import type { TelemetryEvent } from '../../../contracts/system/telemetry';
import { inTurn, scan } from './scan';

const eventAt = (timestamp: string): TelemetryEvent => ({ id: timestamp, type: 'run.completed', timestamp });
const times = [5, 4, 3, 2, 1].map((hour) => new Date(Date.UTC(2099, 0, 1, hour)).toISOString());
const telemetry = {
  async *pages() {
    yield times.slice(0, 2).map(eventAt);
    yield times.slice(2).map(eventAt);
  },
};
const period = (from: string | null): Period => ({ name: 'custom', from, to: times[0]!, timeZone: 'UTC' });

describe('scan of a period', () => {
  const run = async (max: number, from: string | null = '2099-01-01T00:00:00.000Z') => {
    const taken: string[] = [];
    const coverage = await scan(
      { telemetry, period: period(from), max },
      { 'run.completed': (events) => void taken.push(...events.map(({ timestamp }) => timestamp)) },
    );
    return { taken, coverage };
  };

  it('takes every event, and reports that it did', async () => {
    const from = '2099-01-01T00:00:00.000Z';
    expect(await run(5, from)).toEqual({ taken: times, coverage: { complete: true, since: from } });
    expect((await run(5, null)).coverage).toEqual({ complete: true, since: null });
  });

  it('takes the newest of too many events, and reports from when on they were counted', async () => {
    expect(await run(3)).toEqual({ taken: times.slice(0, 3), coverage: { complete: false, since: times[2] } });
    expect(await run(2)).toEqual({ taken: times.slice(0, 2), coverage: { complete: false, since: times[2] } });
  });

  it('takes what it can read in the time of an answer, at least one page of each type', async () => {
    const taken: string[] = [];
    const take = (events: TelemetryEvent[]) => void taken.push(...events.map(({ timestamp }) => timestamp));
    const answer = () => scan({ telemetry, period: period(null) }, { 'run.completed': take, 'run.error': take });
    const coverage = await inTurn('user:ada', answer, { forMs: 0, withinMs: 10_000 });
    expect(taken).toEqual([...times.slice(0, 2), ...times.slice(0, 2)]);
    expect(coverage).toEqual({ complete: false, since: times[1] });
    expect(await inTurn('user:ada', answer)).toEqual({ complete: true, since: null });
  });

  it('reports that events have expired', async () => {
    const { coverage } = await run(5, '2020-01-01T00:00:00.000Z');
    expect(coverage.complete).toBe(false);
    expect(Date.parse(coverage.since ?? '')).toBeGreaterThan(Date.now() - 91 * 86_400_000);
  });
});
