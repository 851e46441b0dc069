import type { PeriodName } from '../../contracts/period';
import { rangeOf } from './range';

const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
/** A Tuesday, after midnight in Berlin. */
const at = Date.parse('2026-11-23T23:20:00.000Z');

describe('rangeOf', () => {
  it.each([
    ['today', '2026-11-23T23:00:00.000Z'],
    ['24h', '2026-11-22T23:15:00.000Z'],
    ['3d', '2026-11-20T23:15:00.000Z'],
    ['7d', '2026-11-16T23:15:00.000Z'],
    ['30d', '2026-10-24T23:15:00.000Z'],
    ['3m', '2026-08-23T22:00:00.000Z'],
    ['6m', '2026-05-23T22:00:00.000Z'],
    ['12m', '2025-11-23T23:00:00.000Z'],
    ['wtd', '2026-11-22T23:00:00.000Z'],
    ['mtd', '2026-10-31T23:00:00.000Z'],
    ['ytd', '2025-12-31T23:00:00.000Z'],
    ['all', undefined],
  ] satisfies [PeriodName, string | undefined][])(
    'of %s begins at %s in Berlin, and has what is used now',
    (period, from) => {
      const range = rangeOf({ period, timeZone: 'Europe/Berlin' }, at);
      expect([iso(range.from), iso(range.to)]).toEqual([from, '2026-11-23T23:30:00.000Z']);
    },
  );

  it('has what is used in the first millisecond of a quarter', () => {
    expect(iso(rangeOf({ period: '24h', timeZone: 'UTC' }, Date.parse('2026-11-24T00:00:00.000Z')).to)).toBe(
      '2026-11-24T00:15:00.000Z',
    );
  });

  it('ends months at their last day', () => {
    const may = Date.parse('2026-05-31T12:00:00.000Z');
    expect(iso(rangeOf({ period: '3m', timeZone: 'UTC' }, may).from)).toBe('2026-02-28T00:00:00.000Z');
  });

  it('widens a period that was asked for to quarters of an hour', () => {
    const asked = {
      period: 'custom',
      timeZone: 'UTC',
      from: '2026-01-01T00:01:00Z',
      to: '2026-01-02T00:00:00Z',
    } as const;
    const range = rangeOf(asked, at);
    expect([iso(range.from), iso(range.to)]).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']);
  });
});
