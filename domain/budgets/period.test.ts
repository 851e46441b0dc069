import fc from 'fast-check';
import { calendarDayAt, startOfDay, weekdayOf } from '../periods/zone';
import { monthOf } from './period';

const iso = (at: number) => new Date(at).toISOString();
const month = (at: string, zone: string) => {
  const { from, to } = monthOf(Date.parse(at), zone);
  return [iso(from), iso(to)];
};

describe('monthOf', () => {
  it.each([
    ['2026-11-24T02:00:00Z', 'UTC', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ['2026-10-31T23:30:00Z', 'Europe/Berlin', '2026-10-31T23:00:00.000Z', '2026-11-30T23:00:00.000Z'],
    ['2026-10-31T22:59:59Z', 'Europe/Berlin', '2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z'],
    ['2026-12-31T18:30:00Z', 'Asia/Kolkata', '2026-12-31T18:30:00.000Z', '2027-01-31T18:30:00.000Z'],
    ['2026-12-31T18:14:59Z', 'Asia/Kathmandu', '2026-11-30T18:15:00.000Z', '2026-12-31T18:15:00.000Z'],
    ['2026-03-01T05:00:00Z', 'America/New_York', '2026-03-01T05:00:00.000Z', '2026-04-01T04:00:00.000Z'],
    ['2024-02-29T12:00:00Z', 'Pacific/Kiritimati', '2024-02-29T10:00:00.000Z', '2024-03-31T10:00:00.000Z'],
  ])('of %s in %s is from %s to %s', (at, zone, from, to) => {
    expect(month(at, zone)).toEqual([from, to]);
  });

  it('contains the moment, and begins where the one before ends, in any zone', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    fc.assert(
      fc.property(
        fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2090-01-01') }),
        fc.constantFrom(...zones),
        (at, zone) => {
          const { from, to } = monthOf(at, zone);
          expect(from <= at && at < to).toBe(true);
          expect(monthOf(from - 1, zone).to).toBe(from);
          expect([from % 900_000, to % 900_000]).toEqual([0, 0]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('startOfDay', () => {
  it('is later than midnight where clocks skip it, and the first where it comes twice', () => {
    // Beirut changed from 00:00 to 01:00; Havana goes back from 01:00 to 00:00.
    expect(iso(startOfDay('Asia/Beirut', { year: 2022, month: 3, day: 27 }))).toBe('2022-03-26T22:00:00.000Z');
    expect(iso(startOfDay('America/Havana', { year: 2026, month: 11, day: 1 }))).toBe('2026-11-01T04:00:00.000Z');
  });

  it('has days from Monday to Sunday', () => {
    expect(weekdayOf(calendarDayAt('UTC', Date.parse('2026-11-23T12:00:00Z')))).toBe(0);
    expect(weekdayOf(calendarDayAt('UTC', Date.parse('2026-11-22T12:00:00Z')))).toBe(6);
  });
});
