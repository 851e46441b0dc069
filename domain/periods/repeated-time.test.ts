import { earlierShown, namesItsTime } from './repeated-time';

const at = (iso: string) => Date.parse(iso);

describe('times that clocks show twice', () => {
  it.each([
    ['Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25T00:30:00Z'],
    ['America/Santiago', '2027-04-04T03:30:00Z', '2027-04-04T02:30:00Z'],
    ['Europe/Berlin', '2026-10-25T00:30:00Z', undefined],
    ['Europe/Berlin', '2026-10-25T02:00:00Z', undefined],
    ['Europe/Berlin', '2026-03-29T01:30:00Z', undefined],
    ['UTC', '2026-10-25T01:30:00Z', undefined],
  ])('in %s at %s: before at %s', (zone, moment, earlier) => {
    expect(earlierShown(zone, at(moment))).toBe(earlier === undefined ? undefined : at(earlier));
  });

  it.each([
    ['30 2 * * *', true],
    ['0,30 1-3 * * 1', true],
    ['@daily', true],
    ['@hourly', false],
    ['0 * * * *', false],
    ['*/5 2 * * *', false],
    ['0 */2 * * *', false],
  ])('a cron expression %s names its time: %s', (cron, expected) => {
    expect(namesItsTime(cron)).toBe(expected);
  });
});
