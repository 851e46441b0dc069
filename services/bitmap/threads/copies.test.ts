import fc from 'fast-check';
import type { Bitmap } from '../bitmaps/bitmap';
import { frozenBitmaps } from '../bitmaps/frozen';
import { columnList } from '../engine/column-list';
import { ColumnSet } from '../engine/column-set';
import { Copies } from './copies';

const frozen = frozenBitmaps();

const segmentWidth = 2 ** 24;
const pageWidth = 2 ** 32;
const anywhere = fc
  .tuple(fc.constantFrom(0, 1, 2, 7, 255, 256, 300, 1_000), fc.constantFrom(0, 1, 65_536, segmentWidth - 1))
  .map(([segment, offset]) => segment * segmentWidth + offset);
const columns = fc.array(anywhere, { maxLength: 8 });

type Change = (set: ColumnSet) => void;
const change: fc.Arbitrary<Change> = fc.oneof(
  anywhere.map(
    (column): Change =>
      (set) =>
        set.add(column),
  ),
  anywhere.map(
    (column): Change =>
      (set) =>
        set.remove(column),
  ),
  columns.map(
    (list): Change =>
      (set) =>
        set.addMany(list),
  ),
  columns.map(
    (list): Change =>
      (set) =>
        set.addList(columnList(list)),
  ),
  columns.map(
    (list): Change =>
      (set) =>
        set.addAll(ColumnSet.of(list)),
  ),
  columns.map(
    (list): Change =>
      (set) =>
        set.removeAll(ColumnSet.of(list)),
  ),
  columns.map((list): Change => (set) => {
    for (const [page, bytes] of ColumnSet.of(list).serialized()) {
      set.load(page, bytes);
    }
  }),
);

/** All that the copies hold. */
const copied = (copies: Copies, set: ColumnSet): number[] =>
  [...copies.of(set)]
    .flatMap(([segment, copy]) => {
      const bitmap: Bitmap = copies.view(copy);
      const first = Math.floor(segment / 256) * pageWidth;
      return [...bitmap.toUint32Array()].map((offset) => first + offset);
    })
    .sort((a, b) => a - b);

describe('bitmap row copies', () => {
  it('copies are what their set is, however it was changed', () => {
    fc.assert(
      fc.property(columns, fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 6 }), (list, rounds) => {
        const copies = new Copies(frozen, Infinity);
        const set = ColumnSet.of(list);
        for (const changes of [[], ...rounds]) {
          for (const apply of changes) {
            apply(set);
          }
          expect(copies.refresh(new Set([set]), Infinity)).toBe(true);
          expect(copied(copies, set)).toEqual(set.toArray());
        }
        copies.forget(set);
        expect(copies.bytes).toBe(0);
        copies.refresh(new Set([set]), Infinity);
        expect(copied(copies, set)).toEqual(set.toArray());
      }),
      { numRuns: 100 },
    );
  });

  it('only the segments that have changed are copied again, and readers of the earlier copies do not see it', () => {
    const copies = new Copies(frozen, Infinity);
    const set = ColumnSet.of([1, segmentWidth + 1, 2 * segmentWidth + 1]);
    const idsNow = (): number[] => {
      copies.refresh(new Set([set]), Infinity);
      return [0, 1, 2].map((segment) => copies.of(set).get(segment)?.id ?? 0);
    };
    expect(idsNow()).toEqual([1, 2, 3]);
    expect(idsNow()).toEqual([1, 2, 3]);
    const before = copies.of(set).get(1);
    before?.hold();
    set.add(segmentWidth + 2);
    expect(idsNow()).toEqual([1, 4, 3]);
    set.add(segmentWidth + 3);
    expect(idsNow()).toEqual([1, 5, 3]);
    expect(before && [...copies.view(before).toUint32Array()]).toEqual([segmentWidth + 1]);
    expect(before?.isOutdated).toBe(true);
  });

  it('continues where it had to stop', () => {
    const copies = new Copies(frozen, Infinity);
    const set = ColumnSet.of(Array.from({ length: 50 }, (_, segment) => segment * segmentWidth));
    expect(copies.refresh(new Set([set]), 0)).toBe(false);
    expect(copies.refresh(new Set([set]), Infinity)).toBe(true);
    expect(copied(copies, set)).toEqual(set.toArray());
  });

  it('forgets what was not used for longest when there is no more room', () => {
    const sets = Array.from({ length: 5 }, (_, at) => ColumnSet.of([at, at + 1, at + 100]));
    const copies = new Copies(frozen, 60);
    for (const set of [...sets, ...sets]) {
      expect(copies.refresh(new Set([set]), Infinity)).toBe(true);
      expect(copied(copies, set)).toEqual(set.toArray());
      expect(copies.bytes).toBeLessThanOrEqual(60);
    }
    expect(copies.refresh(new Set(sets), Infinity)).toBe(false);
  });
});
