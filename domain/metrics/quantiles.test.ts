import fc from 'fast-check';
import { Quantiles } from './quantiles';

const of = (values: readonly number[], maxExact?: number): Quantiles => {
  const quantiles = new Quantiles(maxExact);
  values.forEach((value) => quantiles.add(value));
  return quantiles;
};
/** The definition: the smallest value that at least this share of all is not above. */
const defined = (values: readonly number[], share: number): number =>
  [...values]
    .sort((a, b) => a - b)
    .find((one) => values.filter((other) => other <= one).length >= share * values.length)!;

describe('quantiles', () => {
  it('are values that there are', () => {
    const quantiles = of([30, 10, 20, 40]);
    expect([0.25, 0.5, 0.51, 0.95, 1].map((share) => quantiles.at(share))).toEqual([10, 20, 30, 40, 40]);
    expect([quantiles.mean, quantiles.max, quantiles.count]).toEqual([25, 40, 4]);
  });

  it('are 0 without values, and the value where there is one', () => {
    expect([of([]).at(0.5), of([]).mean, of([7]).at(0.01), of([7]).at(0.99)]).toEqual([0, 0, 7, 7]);
  });

  it('are those of the definition', () => {
    const share = fc.double({ min: 0.01, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 1, maxLength: 60 }), share, (values, at) => {
        expect(of(values).at(at)).toBe(defined(values, at));
      }),
    );
  });

  it('of very many values are within one percent, with the exact mean and maximum', () => {
    const value = fc.oneof(fc.nat(100), fc.integer({ min: 1, max: 604_800_000 }));
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 30, maxLength: 300 }),
        fc.constantFrom(0.01, 0.5, 0.95),
        (values, at) => {
          const estimated = of(values, 20);
          const exact = of(values);
          expect([estimated.isExact, exact.isExact]).toEqual([false, true]);
          expect(Math.abs(estimated.at(at) - exact.at(at))).toBeLessThanOrEqual(exact.at(at) * 0.01);
          expect([estimated.mean, estimated.max, estimated.count]).toEqual([exact.mean, exact.max, exact.count]);
        },
      ),
    );
  });
});
