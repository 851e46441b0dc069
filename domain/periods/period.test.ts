import fc from 'fast-check';
import { z } from 'zod';
import { periodFields, periodName } from '../../contracts/period';
import { bucketAt, bucketsOf } from './buckets';
import { maxPeriodDays, PeriodError, resolvePeriod } from './period';
import { calendarDayAt, dayMs, momentOf, startOfDay, wallTimeAt } from './zone';

const query = z.strictObject(periodFields);
const resolve = (stated: Partial<z.input<typeof query>>, now: string) =>
  resolvePeriod(query.parse(stated), new Date(now));
const bounds = (stated: Partial<z.input<typeof query>>, now: string) => {
  const { from, to } = resolve(stated, now);
  return [from, to];
};

describe('periods in UTC', () => {
  // A Wednesday.
  const now = '2026-07-15T10:20:30.400Z';
  const end = '2026-07-15T10:20:30.401Z';

  it.each([
    ['today', '2026-07-15T00:00:00.000Z'],
    ['24h', '2026-07-14T10:20:30.400Z'],
    ['3d', '2026-07-12T10:20:30.400Z'],
    ['7d', '2026-07-08T10:20:30.400Z'],
    ['30d', '2026-06-15T10:20:30.400Z'],
    ['3m', '2026-04-15T10:20:30.400Z'],
    ['6m', '2026-01-15T10:20:30.400Z'],
    ['12m', '2025-07-15T10:20:30.400Z'],
    ['wtd', '2026-07-13T00:00:00.000Z'],
    ['mtd', '2026-07-01T00:00:00.000Z'],
    ['ytd', '2026-01-01T00:00:00.000Z'],
    ['all', null],
  ] as const)('%s begins at %s and lasts until now', (period, from) => {
    expect(bounds({ period }, now)).toEqual([from, end]);
  });

  it('are the last seven days when nothing is stated, and custom when a bound is', () => {
    expect(resolve({}, now).name).toBe('7d');
    expect(resolve({ from: '2026-07-01' }, now)).toMatchObject({ name: 'custom', from: '2026-07-01T00:00:00.000Z' });
    expect(bounds({ to: '2026-07-01' }, now)).toEqual([null, '2026-07-02T00:00:00.000Z']);
  });

  it('take moments with an offset as bounds', () => {
    expect(bounds({ from: '2026-07-01T02:00:00+02:00', to: '2026-07-01T01:00:00Z' }, now)).toEqual([
      '2026-07-01T00:00:00.000Z',
      '2026-07-01T01:00:00.000Z',
    ]);
  });

  it('of months end in the last day of a shorter month', () => {
    expect(bounds({ period: '3m' }, '2026-05-31T08:00:00.000Z')[0]).toBe('2026-02-28T08:00:00.000Z');
    expect(bounds({ period: '12m' }, '2028-02-29T08:00:00.000Z')[0]).toBe('2027-02-28T08:00:00.000Z');
  });

  it.each([
    ['from', { period: 'custom' }],
    ['from', { period: '7d', from: '2026-07-01' }],
    ['to', { period: 'all', to: '2026-07-01' }],
    ['to', { from: '2026-07-02', to: '2026-07-01' }],
    ['from', { from: '2030-01-01' }],
    ['from', { from: '2019-01-01', to: '2026-01-01' }],
  ] as const)('are refused at %s for %j', (field, stated) => {
    expect(() => resolve(stated, now)).toThrow(expect.objectContaining({ name: 'PeriodError', field }));
  });

  it.each([
    { tz: 'Mars/Olympus' },
    { tz: '+02:00' },
    { tz: '' },
    { tz: `Europe/${'x'.repeat(80)}` },
    { from: '2026-02-30' },
    { from: '9999-12-31' },
    { from: 'yesterday' },
    { period: '5d' },
  ])('refuse %j', (stated) => {
    expect(query.safeParse(stated).success).toBe(false);
  });
});

describe('periods where clocks change', () => {
  const lengthOf = (stated: Partial<z.input<typeof query>>) => {
    const [from, to] = bounds(stated, '2026-12-31T00:00:00.000Z').map((text) => Date.parse(text ?? ''));
    return ((to ?? 0) - (from ?? 0)) / 3_600_000;
  };

  it.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['Europe/Berlin', '2026-07-15', 24],
    ['America/New_York', '2026-03-08', 23],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    // These days have no midnight: clocks are put forward at 0:00.
    ['Africa/Cairo', '2026-04-24', 23],
    ['America/Sao_Paulo', '2018-11-04', 23],
    // Here clocks are put back at midnight, to the day before.
    ['America/Asuncion', '2024-03-23', 25],
  ])('%s has a %s of %d hours', (tz, day, hours) => {
    expect(lengthOf({ tz, from: day, to: day })).toBe(hours);
  });

  it('begin a day without a midnight with its first moment', () => {
    expect(bounds({ tz: 'Africa/Cairo', from: '2026-04-24', to: '2026-04-24' }, '2026-12-31T00:00:00Z')[0]).toBe(
      '2026-04-23T22:00:00.000Z',
    );
  });

  it('begin today by the zone, not by UTC', () => {
    const now = '2026-01-01T02:00:00.000Z';
    expect(bounds({ period: 'today', tz: 'America/New_York' }, now)[0]).toBe('2025-12-31T05:00:00.000Z');
    expect(bounds({ period: 'ytd', tz: 'America/New_York' }, now)[0]).toBe('2025-01-01T05:00:00.000Z');
    expect(bounds({ period: 'today', tz: 'Pacific/Kiritimati' }, now)[0]).toBe('2025-12-31T10:00:00.000Z');
  });

  it('of months begin at the same time of day', () => {
    // 12:00 in Berlin is 10:00 UTC in summer and 11:00 in winter.
    expect(bounds({ period: '6m', tz: 'Europe/Berlin' }, '2026-07-15T10:00:00.000Z')[0]).toBe(
      '2026-01-15T11:00:00.000Z',
    );
  });

  it('have one part for each day, of its length', () => {
    const period = resolve({ tz: 'Europe/Berlin', from: '2026-03-28', to: '2026-03-30' }, '2026-12-31T00:00:00Z');
    const { unit, buckets } = bucketsOf(period, 0);
    expect(unit).toBe('day');
    expect(buckets.map(({ label, from, to }) => [label, (to - from) / 3_600_000])).toEqual([
      ['2026-03-28', 24],
      ['2026-03-29', 23],
      ['2026-03-30', 24],
    ]);
  });

  it('pass over a day that a zone has skipped', () => {
    const period = resolve({ tz: 'Pacific/Apia', from: '2011-12-28', to: '2011-12-31' }, '2026-12-31T00:00:00Z');
    expect(bucketsOf(period, 0).buckets.map(({ label }) => label)).toEqual(['2011-12-28', '2011-12-29', '2011-12-31']);
  });
});

const zones = [
  ...(['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia'] as const),
  ...(['America/Sao_Paulo', 'Africa/Cairo', 'America/Asuncion', 'Pacific/Kiritimati', 'Asia/Beirut'] as const),
];
const zone = fc.constantFrom(...zones);
const moment = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2035, 0, 1) });

describe('any period', () => {
  const named = fc.constantFrom(...periodName.options.filter((name) => name !== 'custom'));

  it('contains now, and begins before it ends', () => {
    fc.assert(
      fc.property(named, zone, moment, (period, tz, now) => {
        const { from, to } = resolvePeriod({ period, tz }, new Date(now));
        expect(Date.parse(to)).toBe(now + 1);
        expect(from === null || Date.parse(from) <= now).toBe(true);
      }),
    );
  });

  it('is covered by its parts, once, and each moment is in the part that has it', () => {
    fc.assert(
      fc.property(
        zone,
        moment,
        fc.integer({ min: 1, max: maxPeriodDays * dayMs }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (tz, begin, length, share) => {
          const [from, to] = [new Date(begin).toISOString(), new Date(begin + length).toISOString()];
          const { buckets } = bucketsOf({ name: 'custom', from, to, timeZone: tz }, 0);
          expect(buckets[0]?.from).toBe(begin);
          expect(buckets.at(-1)?.to).toBe(begin + length);
          buckets.slice(1).forEach((bucket, at) => expect(bucket.from).toBe(buckets[at]?.to));
          expect(buckets.length).toBeLessThanOrEqual(110);
          const any = begin + Math.floor(length * share);
          expect(buckets.indexOf(bucketAt(buckets, any)!)).toBe(
            buckets.findIndex((one) => any >= one.from && any < one.to),
          );
          expect(bucketAt(buckets, begin - 1)).toBeUndefined();
          expect(bucketAt(buckets, begin + length)).toBeUndefined();
        },
      ),
    );
  });

  it('of days adjoins the period of the day after it', () => {
    fc.assert(
      fc.property(zone, moment, (tz, at) => {
        const day = new Date(at).toISOString().slice(0, 10);
        const next = new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);
        const now = new Date();
        const whole = resolvePeriod({ tz, from: day, to: next }, now);
        const second = (() => {
          try {
            return resolvePeriod({ tz, from: next, to: next }, now);
          } catch (error) {
            // A day that the zone has skipped.
            expect(error).toBeInstanceOf(PeriodError);
            return undefined;
          }
        })();
        if (second) {
          expect(resolvePeriod({ tz, from: day, to: second.from! }, now).to).toBe(second.from);
          expect(whole.to).toBe(second.to);
        }
      }),
    );
  });
});

describe('clocks of a zone', () => {
  it('show at a moment the time that the moment was computed from', () => {
    fc.assert(
      fc.property(zone, moment, (tz, at) => {
        const first = momentOf(tz, wallTimeAt(tz, at));
        expect(wallTimeAt(tz, first)).toBe(wallTimeAt(tz, at));
        expect(first).toBeLessThanOrEqual(at);
      }),
    );
  });

  it('show another day a millisecond before a day begins', () => {
    fc.assert(
      fc.property(zone, moment, (tz, at) => {
        const day = calendarDayAt(tz, at);
        const start = startOfDay(tz, day);
        expect(calendarDayAt(tz, start)).toEqual(day);
        expect(calendarDayAt(tz, start - 1)).not.toEqual(day);
      }),
    );
  });
});
