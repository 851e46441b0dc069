import fc from 'fast-check';
import { type Finished, predict } from './predict';

const done = (fields: Partial<Finished> = {}): Finished => ({
  type: 'code',
  project: 'shop',
  priority: 'medium',
  cost: 2,
  tokens: 1_000,
  durationMs: 60_000,
  ...fields,
});
const several = (count: number, fields: Partial<Finished> = {}) => Array.from({ length: count }, () => done(fields));
const task = { type: 'code', project: 'shop', priority: 'medium' };

describe('cost prediction', () => {
  it('knows nothing where nothing was done', () => {
    expect(predict(task, [])).toEqual({
      estimatedTokens: null,
      estimatedCost: null,
      estimatedDurationMs: null,
      confidence: 'low',
      basedOn: { sampleSize: 0, sameIn: [] },
    });
  });

  it('goes by the median of tasks like this one', () => {
    const prediction = predict(task, [
      done({ cost: 1 }),
      done({ cost: 3 }),
      done({ cost: 1_000 }),
      ...several(9, { type: 'docs' }),
    ]);
    expect(prediction).toEqual({
      estimatedTokens: 1_000,
      estimatedCost: 3,
      estimatedDurationMs: 60_000,
      confidence: 'medium',
      basedOn: { sampleSize: 3, sameIn: ['type', 'project', 'priority'] },
    });
  });

  it.each([
    [several(10), 'high', ['type', 'project', 'priority']],
    [several(10, { priority: 'high' }), 'high', ['type', 'project']],
    [several(10, { project: 'web' }), 'medium', ['type']],
    [several(10, { type: 'docs' }), 'low', []],
    [several(2), 'low', []],
  ])('is as sure as the tasks are alike (%#)', (finished, confidence, sameIn) => {
    expect(predict(task, finished)).toMatchObject({ confidence, basedOn: { sampleSize: finished.length, sameIn } });
  });

  it('takes a larger task for more, within bounds', () => {
    expect(predict({ ...task, subtaskCount: 10 }, several(3)).estimatedCost).toBe(3);
    expect(predict({ ...task, subtaskCount: 500 }, several(3)).estimatedCost).toBe(4);
    expect(predict({ ...task, descriptionLength: 10_000 }, several(3)).estimatedCost).toBe(3);
    expect(predict(task, several(3, { subtaskCount: 500 })).estimatedCost).toBe(1);
  });

  it('omits usage that was not reported', () => {
    expect(predict(task, several(3, { cost: undefined }))).toMatchObject({
      estimatedCost: null,
      estimatedTokens: 1_000,
    });
  });

  it('is never far from what tasks took', () => {
    const costs = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(costs, fc.nat(500), (all, subtaskCount) => {
        const { estimatedCost } = predict(
          { ...task, subtaskCount },
          all.map((cost) => done({ cost })),
        );
        expect(estimatedCost).toBeGreaterThanOrEqual(Math.min(...all) / 2 - 1e-6);
        expect(estimatedCost).toBeLessThanOrEqual(Math.max(...all) * 2 + 1e-6);
      }),
    );
  });
});
