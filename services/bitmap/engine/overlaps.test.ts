import fc from 'fast-check';
import { ColumnSet } from './column-set';
import { Overlaps } from './overlaps';

/** Every so many columns from `start` to `end`: dense enough for bits, for lists, or hardly any. */
const stretch = fc
  .record({
    start: fc.integer({ min: 0, max: 400_000 }),
    length: fc.constantFrom(0, 10, 70_000, 300_000),
    step: fc.constantFrom(1, 3, 17, 40, 100, 5_000),
    page: fc.constantFrom(0, 0, 0, 0, 0, 2 ** -8, 1),
  })
  .map(({ start, length, step, page }) =>
    Array.from({ length: Math.ceil(length / step) }, (_, at) => page * 2 ** 32 + start + at * step),
  );
const columns = fc.array(stretch, { maxLength: 2 }).map((lists) => ColumnSet.of(lists.flat()));

describe('bitmap overlaps', () => {
  it('counts what rows share with any set, also after rows have changed', () => {
    fc.assert(
      fc.property(
        fc.array(columns, { minLength: 1, maxLength: 4 }),
        fc.array(fc.record({ asked: columns, changed: fc.nat(3), by: columns, few: fc.boolean() }), { maxLength: 5 }),
        (rows, steps) => {
          const overlaps = new Overlaps();
          for (const { asked, changed, by, few } of steps) {
            const count = overlaps.with(asked, few ? 1 : 100);
            expect(rows.map((own, row) => count(row, own))).toEqual(rows.map((own) => own.and(asked).size));
            rows[changed]?.addAll(by);
            rows[changed]?.remove(17);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('counts again what has changed since it was remembered', () => {
    const overlaps = new Overlaps();
    const rows = [ColumnSet.of([1, 2, 3]), ColumnSet.of([2, 3, 4])];
    const [asked = new ColumnSet()] = rows;
    const counted = (): number[] => rows.map((own, row) => overlaps.with(asked, 2)(row, own));
    expect(counted()).toEqual([3, 2]);
    rows[1]?.add(1);
    expect(counted()).toEqual([3, 3]);
    asked.remove(3);
    expect(counted()).toEqual([2, 2]);
    rows[1] = ColumnSet.of([1]);
    expect(counted()).toEqual([2, 1]);
  });

  it('continues counting when there are more rows than it keeps complements of', () => {
    const overlaps = new Overlaps();
    const list = (start: number): number[] => Array.from({ length: 40_000 }, (_, at) => start + at * 50);
    const rows = Array.from({ length: 90 }, (_, row) => ColumnSet.of(list(row)));
    const asked = ColumnSet.of([...list(3), ...list(80)]);
    for (let time = 0; time < 3; time += 1) {
      const count = overlaps.with(asked, rows.length);
      expect(rows.map((own, row) => count(row, own))).toEqual(rows.map((own) => own.countShared(asked)));
    }
  });
});
