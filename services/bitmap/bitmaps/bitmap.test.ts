import fc from 'fast-check';
import type { BitmapKind } from './bitmap';
import { nativeBitmaps } from './kind';
import { PlainBitmap } from './plain';

const native = nativeBitmaps();
const kinds: [string, BitmapKind][] = [['plain', PlainBitmap]];
if (native) {
  kinds.push(['native', native]);
}

/** Values that share containers, so that lists, bits and the borders between them are met. */
const values = fc
  .tuple(
    fc.array(fc.oneof(fc.nat(300_000), fc.nat(0xffffffff), fc.constantFrom(0, 65_535, 65_536, 0xffffffff)), {
      maxLength: 40,
    }),
    fc.option(fc.tuple(fc.nat(200_000), fc.nat(6_000)), { nil: undefined }),
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

const sorted = (set: Iterable<number>): number[] => [...set].sort((a, b) => a - b);

describe.each(kinds)('%s bitmaps', (_name, Bitmaps) => {
  const make = (set: Iterable<number>) => Bitmaps.from(Uint32Array.from(set));
  const listed = (bitmap: { toUint32Array(): Uint32Array }) => [...bitmap.toUint32Array()];

  it('behave like sets', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [x, y] = [make(a), make(b)];
        expect(listed(x)).toEqual(sorted(a));
        expect(x.size).toBe(a.size);
        expect(x.isEmpty).toBe(a.size === 0);
        const both = sorted(a).filter((value) => b.has(value));
        expect(listed(Bitmaps.and(x, y))).toEqual(both);
        expect(x.andCardinality(y)).toBe(both.length);
        expect(listed(Bitmaps.or(x, y))).toEqual(sorted(new Set([...a, ...b])));
        expect(listed(Bitmaps.orMany([x, y, make([7])]))).toEqual(sorted(new Set([...a, ...b, 7])));
        expect(listed(Bitmaps.andNot(x, y))).toEqual(sorted(a).filter((value) => !b.has(value)));
        const onlyOne = [...a, ...b].filter((value) => a.has(value) !== b.has(value));
        expect(listed(Bitmaps.xor(x, y))).toEqual(sorted(new Set(onlyOne)));
        expect(listed(x)).toEqual(sorted(a));
      }),
      { numRuns: 30 },
    );
  });

  it('change in place', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const y = make(b);
        const [and, or, andNot] = [make(a), make(a), make(a)];
        and.andInPlace(y);
        or.orInPlace(y);
        andNot.andNotInPlace(y);
        expect(listed(and)).toEqual(sorted(a).filter((value) => b.has(value)));
        expect(listed(or)).toEqual(sorted(new Set([...a, ...b])));
        expect(listed(andNot)).toEqual(sorted(a).filter((value) => !b.has(value)));
        const added = [...b].filter((value) => and.tryAdd(value) === a.has(value));
        const removed = [...b].filter((value) => !and.delete(value) || and.delete(value) || and.has(value));
        expect([added, removed]).toEqual([[], []]);
        expect(listed(y)).toEqual(sorted(b));
      }),
      { numRuns: 20 },
    );
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
    expect(listed(Bitmaps.addOffset(make([0, 1, 0xffffffff]), 5))).toEqual([5, 6]);
    expect(listed(Bitmaps.addOffset(make([0, 4, 5, 70_000]), -5))).toEqual([0, 69_995]);
  });

  it('are read back from the portable format by every kind', () => {
    fc.assert(
      fc.property(values, (set) => {
        const bitmap = make(set);
        bitmap.runOptimize();
        bitmap.shrinkToFit();
        const bytes = bitmap.serialize('portable');
        for (const [, Other] of kinds) {
          expect(listed(Other.deserialize(bytes, 'portable'))).toEqual(sorted(set));
        }
      }),
      { numRuns: 20 },
    );
  });
});
