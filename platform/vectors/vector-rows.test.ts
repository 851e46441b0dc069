import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import openAssembler from 'wabt';
import { assembledDotProducts, plainDotProducts, simdDotProducts } from './dot-products';
import { createVectorRows } from './vector-rows';

const finite = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1, max: 1 });

/** Some vectors of one dimension, and a query. */
const compared = fc.integer({ min: 1, max: 70 }).chain((dimensions) => {
  const vector = fc
    .array(finite, { minLength: dimensions, maxLength: dimensions })
    .map((all) => Float32Array.from(all));
  return fc.record({ vectors: fc.array(vector, { minLength: 1, maxLength: 30 }), query: vector });
});

const exact = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

describe('dot products', () => {
  it('are assembled from their text', async () => {
    const assembler = await openAssembler();
    const text = readFileSync(join(__dirname, 'dot-products.wat'), 'utf8');
    const { buffer } = assembler.parseWat('dot-products.wat', text, { simd: true }).toBinary({});
    expect(assembledDotProducts).toBe(Buffer.from(buffer).toString('base64'));
  });
});

describe.each(Object.entries({ simdDotProducts, plainDotProducts }))('rows of vectors by %s', (_name, multiply) => {
  it('are compared as exactly as numbers of 32 bits are', async () => {
    await fc.assert(
      fc.asyncProperty(compared, async ({ vectors, query }) => {
        const rows = createVectorRows(query.length, multiply);
        const at = vectors.map((vector) => rows.add(vector));
        const scores = await rows.scores(query);
        for (const [index, vector] of vectors.entries()) {
          expect(scores[at[index]!]).toBeCloseTo(exact(vector, query), 4);
          expect(rows.scoreOf(query, at[index]!)).toBe(scores[at[index]!]);
        }
      }),
    );
  });

  it('are used again once a vector is removed', async () => {
    const rows = createVectorRows(2, multiply);
    const first = rows.add(Float32Array.of(1, 0));
    rows.add(Float32Array.of(0, 1));
    rows.remove(first);
    expect(rows.add(Float32Array.of(0.5, 0.5))).toBe(first);
    expect([...(await rows.scores(Float32Array.of(1, 0)))]).toEqual([0.5, 0]);
  });

  it('are all compared, however many turns that takes', async () => {
    const rows = createVectorRows(2, multiply);
    const values = Array.from({ length: 40_000 }, (_, n) => Math.fround(n / 40_000));
    values.forEach((value) => rows.add(Float32Array.of(value, 1)));
    expect([...(await rows.scores(Float32Array.of(1, 0)))]).toEqual(values);
  });
});
