import fc from 'fast-check';
import { compositeMethod } from '../../../contracts/governance/scoring';
import { composite } from './composite';

const scored = [
  { score: 1, weight: 3 },
  { score: 0.25, weight: 1 },
  { score: 0, weight: 0 },
];

describe('composite score', () => {
  it.each([
    ['weightedAverage', 0.8125],
    ['minimum', 0.25],
    ['maximum', 1],
    ['geometricMean', 0.707106781],
  ] as const)('makes one score by %s', (method, expected) => {
    expect(composite(method, scored)).toBeCloseTo(expected, 8);
  });

  it('has a geometric mean of nothing where one is nothing', () => {
    expect(composite('geometricMean', [...scored, { score: 0, weight: 1 }])).toBe(0);
  });

  it('is between the least and the most', () => {
    const one = fc.record({
      score: fc.double({ min: 0, max: 1, noNaN: true }),
      weight: fc.double({ min: 0.001, max: 1_000, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(one, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(...compositeMethod.options),
        (all, method) => {
          const scores = all.map(({ score }) => score);
          const result = composite(method, all);
          expect(result).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-8);
          expect(result).toBeLessThanOrEqual(Math.max(...scores) + 1e-8);
        },
      ),
    );
  });
});
