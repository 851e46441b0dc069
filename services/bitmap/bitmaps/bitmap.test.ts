import { hash } from 'node:crypto';
import fc from 'fast-check';
import type { Bitmap, BitmapKind } from './bitmap';
import { type FrozenBitmaps, frozenBitmaps, frozenPlain } from './frozen';
import { nativeBitmaps } from './kind';
import { PlainBitmap } from './plain';

const native = nativeBitmaps();
const kinds: [string, BitmapKind, FrozenBitmaps][] = [['plain', PlainBitmap, frozenPlain]];
if (native) {
  kinds.push(['native', native, frozenBitmaps()]);
}

/** Values that share containers, so that lists, bits and the borders between them are met. */
const values = fc
  .tuple(
    fc.array(fc.oneof(fc.nat(300_000), fc.nat(0xffffffff), fc.constantFrom(0, 65_535, 65_536, 0xffffffff)), {
      maxLength: 40,
    }),
    fc.option(fc.tuple(fc.nat(200_000), fc.oneof(fc.nat(6_000), fc.nat(6_000), fc.nat(140_000))), { nil: undefined }),
  )
  .map(([some, run]) => {
    const set = new Set(some);
    if (run) {
      for (let i = 0; i < run[1]; i += 1) {
        set.add(run[0] + i);
      }
    }
    return set;
  });

const sorted = (set: Iterable<number>): number[] => Array.from(Uint32Array.from(set).sort());

/** Values as what a failed test shows: many of them by their digest. */
const shown = (list: Iterable<number>): string => {
  const all = Uint32Array.from(list);
  return all.length < 100 ? all.join() : `${all.length} values, ${hash('sha1', all)}`;
};

/** Whether neighbouring values take less space, as after a snapshot. */
const optimised = fc.tuple(fc.boolean(), fc.boolean());

describe.each(kinds)('%s bitmaps', (_name, Bitmaps, frozen) => {
  const make = (set: Iterable<number>, withRuns = false) => {
    const bitmap = Bitmaps.from(Uint32Array.from(set));
    if (withRuns) {
      bitmap.runOptimize();
    }
    return bitmap;
  };
  const listed = (bitmap: Bitmap) => shown(bitmap.toUint32Array());

  it('behave like sets', () => {
    fc.assert(
      fc.property(values, values, optimised, (a, b, [first, second]) => {
        const [x, y] = [make(a, first), make(b, second)];
        expect(listed(x)).toBe(shown(sorted(a)));
        expect(x.size).toBe(a.size);
        expect(x.isEmpty).toBe(a.size === 0);
        const both = sorted(a).filter((value) => b.has(value));
        expect(listed(Bitmaps.and(x, y))).toBe(shown(both));
        expect(x.andCardinality(y)).toBe(both.length);
        expect(listed(Bitmaps.or(x, y))).toBe(shown(sorted(new Set([...a, ...b]))));
        expect(listed(Bitmaps.orMany([x, y, make([7])]))).toBe(shown(sorted(new Set([...a, ...b, 7]))));
        expect(listed(Bitmaps.andNot(x, y))).toBe(shown(sorted(a).filter((value) => !b.has(value))));
        const onlyOne = [...a, ...b].filter((value) => a.has(value) !== b.has(value));
        expect(listed(Bitmaps.xor(x, y))).toBe(shown(sorted(new Set(onlyOne))));
        expect(listed(x)).toBe(shown(sorted(a)));
        expect(listed(y)).toBe(shown(sorted(b)));
      }),
      { numRuns: 20 },
    );
  });

  it('change in place', () => {
    fc.assert(
      fc.property(values, values, optimised, (a, b, [first, second]) => {
        const y = make(b, second);
        const [and, or, andNot] = [make(a, first), make(a, first), make(a, first)];
        and.andInPlace(y);
        or.orInPlace(y);
        andNot.andNotInPlace(y);
        expect(listed(and)).toBe(shown(sorted(a).filter((value) => b.has(value))));
        expect(listed(or)).toBe(shown(sorted(new Set([...a, ...b]))));
        expect(listed(andNot)).toBe(shown(sorted(a).filter((value) => !b.has(value))));
        const added = [...b].filter((value) => and.tryAdd(value) === a.has(value));
        const removed = [...b].filter((value) => !and.delete(value) || and.delete(value) || and.has(value));
        expect([added, removed]).toEqual([[], []]);
        expect(listed(y)).toBe(shown(sorted(b)));
      }),
      { numRuns: 20 },
    );
  });

  it('are not changed with those they were made of, or that were made of them', () => {
    const operations: ((x: Bitmap, y: Bitmap) => Bitmap)[] = [
      (x, y) => Bitmaps.and(x, y),
      (x, y) => Bitmaps.or(x, y),
      (x, y) => Bitmaps.xor(x, y),
      (x, y) => Bitmaps.andNot(x, y),
      (x, y) => Bitmaps.orMany([x, y]),
      (x) => x.clone(),
      (x) => Bitmaps.addOffset(x, 65_536),
      (x, y) => {
        const copy = x.clone();
        copy.orInPlace(y);
        return copy;
      },
    ];
    fc.assert(
      fc.property(
        values,
        values,
        fc.constantFrom(...operations),
        fc.array(fc.nat(300_000)),
        (a, b, operate, changes) => {
          const sources = [make(a), make(b), Bitmaps.fromRange(0, 196_608)] as const;
          for (const [x, y] of [[sources[0], sources[1]] as const, [sources[0], sources[2]] as const]) {
            const made = operate(x, y);
            const before = [made, x, y].map(listed);
            for (const value of changes) {
              void (made.tryAdd(value) || made.delete(value));
            }
            expect([x, y].map(listed)).toEqual(before.slice(1));
            const changed = listed(made);
            const flipped = changes.map((value) => ({ value, wasAdded: x.tryAdd(value) || (x.delete(value), false) }));
            expect(listed(made)).toBe(changed);
            for (const { value, wasAdded } of flipped.reverse()) {
              void (wasAdded ? x.delete(value) : x.tryAdd(value));
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('count and move what is in a range', () => {
    fc.assert(
      fc.property(values, optimised, fc.nat(300_000), fc.nat(300_000), (a, [withRuns], from, width) => {
        const x = make(a, withRuns);
        expect(x.rangeCardinality(from, from + width)).toBe([...a].filter((v) => v >= from && v < from + width).length);
        expect(x.minimum()).toBe(sorted(a)[0] ?? 0xffffffff);
        expect(x.maximum()).toBe(sorted(a).at(-1) ?? 0);
        for (const offset of [from, -from, 65_536 * 3, 1]) {
          const moved = sorted(a).map((value) => value + offset);
          expect(listed(Bitmaps.addOffset(x, offset))).toBe(shown(moved.filter((v) => v >= 0 && v <= 0xffffffff)));
        }
        const grown = make(a, withRuns);
        grown.addRange(from, from + width);
        const range = Bitmaps.fromRange(from, from + width);
        expect(grown.isEqual(Bitmaps.or(x, range))).toBe(true);
        expect(grown.size).toBe(a.size + width - x.andCardinality(range));
      }),
      { numRuns: 30 },
    );
  });

  it('are read by other threads where they are', () => {
    fc.assert(
      fc.property(values, values, optimised, (a, b, [first, second]) => {
        const views = [[a, first] as const, [b, second] as const].map(([set, withRuns]) => {
          const bitmap = make(set, withRuns);
          const bytes = frozen.allocate(frozen.sizeOf(bitmap) + 64).subarray(0, frozen.sizeOf(bitmap));
          frozen.freeze(bitmap, bytes);
          return frozen.view(bytes);
        });
        const [x, y] = views as [Bitmap, Bitmap];
        expect(listed(x)).toBe(shown(sorted(a)));
        expect(listed(Bitmaps.or(x, y))).toBe(shown(sorted(new Set([...a, ...b]))));
        expect(x.andCardinality(y)).toBe(sorted(a).filter((value) => b.has(value)).length);
      }),
      { numRuns: 20 },
    );
  });

  it('take little for neighbouring values', () => {
    const bitmap = Bitmaps.fromRange(7, 10_000_000);
    bitmap.runOptimize();
    expect(bitmap.getSerializationSizeInBytes('portable')).toBe(bitmap.serialize('portable').length);
    expect(bitmap.serialize('portable').length).toBeLessThan(5_000);
    bitmap.delete(5_000_000);
    expect([bitmap.size, bitmap.has(5_000_000), bitmap.has(5_000_001)]).toEqual([9_999_992, false, true]);
  });

  it('cross between lists and bits at 4096 values', () => {
    const bitmap = Bitmaps.fromRange(0, 4096);
    expect(bitmap.tryAdd(5000)).toBe(true);
    expect(bitmap.size).toBe(4097);
    expect(bitmap.delete(5000)).toBe(true);
    expect(bitmap.delete(0)).toBe(true);
    expect(bitmap.size).toBe(4095);
    const copy = bitmap.clone();
    expect(copy.isEqual(bitmap)).toBe(true);
    copy.tryAdd(9);
    copy.tryAdd(0);
    expect(bitmap.has(0)).toBe(false);
    expect(copy.isEqual(bitmap)).toBe(false);
  });

  it('know ranges, borders and offsets', () => {
    const bitmap = Bitmaps.fromRange(65_530, 131_080);
    expect([bitmap.size, bitmap.minimum(), bitmap.maximum()]).toEqual([65_550, 65_530, 131_079]);
    expect(bitmap.rangeCardinality(0, 65_536)).toBe(6);
    expect(listed(Bitmaps.addOffset(make([0, 1, 0xffffffff]), 5))).toBe(shown([5, 6]));
    expect(listed(Bitmaps.addOffset(make([0, 4, 5, 70_000]), -5))).toBe(shown([0, 69_995]));
  });

  it('are read back from the portable format by every kind', () => {
    fc.assert(
      fc.property(values, (set) => {
        const bitmap = make(set);
        bitmap.runOptimize();
        bitmap.shrinkToFit();
        expect(bitmap.getSerializationSizeInBytes('portable')).toBe(bitmap.serialize('portable').length);
        const bytes = bitmap.serialize('portable');
        for (const [, Other] of kinds) {
          expect(listed(Other.deserialize(bytes, 'portable'))).toBe(shown(sorted(set)));
        }
      }),
      { numRuns: 20 },
    );
  });
});
