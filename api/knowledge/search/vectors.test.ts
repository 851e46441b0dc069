import type { SearchEntry } from '../../../stores/knowledge/search/entry-store';
import type { DocumentVectors, SearchVectorStore } from '../../../stores/knowledge/search/vector-store';
import { createVectors, maxVectors } from './vectors';

const entry = (n: number, collection: SearchEntry['collection'] = 'docs'): SearchEntry => ({
  ...{ id: `docs:${n}`, version: 'v1', collection },
});

/** Vectors that point at an angle, in degrees. */
const at = (...angles: number[]): Float32Array[] =>
  angles.map((angle) => Float32Array.from([Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)]));

const stored = (n: number, vectors: Float32Array[], more: Partial<DocumentVectors> = {}) => ({
  ...{ id: `docs:${n}`, version: 'v1', model: 'm', vectors, batch: 1 },
  ...more,
});

async function vectorsOf(documents: ReturnType<typeof stored>[]) {
  const store: Pick<SearchVectorStore, 'published' | 'between' | 'publish'> = {
    published: async () => 1,
    publish: async () => undefined,
    async *between(after) {
      yield* after < 1 ? documents : [];
    },
  };
  const vectors = createVectors(store as SearchVectorStore, 'm');
  await vectors.sync();
  return vectors;
}

const query = at(0)[0]!;

describe('vectors of documents', () => {
  it('are compared part by part, and the nearest documents come first', async () => {
    const vectors = await vectorsOf([stored(1, at(90, 40)), stored(2, at(10)), stored(3, at(60, 20, 80))]);
    const known = [entry(1), entry(2), entry(3)];
    const { near, isComplete } = await vectors.nearest(query, { known, collections: ['docs'], limit: 2 });
    expect(near.map(({ entry: { id }, part }) => [id, part])).toEqual([
      ['docs:2', 0],
      ['docs:3', 1],
    ]);
    expect(isComplete).toBe(true);
  });

  it('are compared with all others, however many, as sorting all of them does', async () => {
    const angles = Array.from({ length: 7_000 }, (_, n) => (n * 7_919) % 36_000);
    const vectors = await vectorsOf(angles.map((angle, n) => stored(n, at(angle / 100))));
    const known = angles.map((_, n) => entry(n));
    const { near } = await vectors.nearest(query, { known, collections: ['docs'], limit: 30 });
    const away = (angle: number) => Math.min(angle, 36_000 - angle);
    const expected = angles.map(away).sort((a, b) => a - b);
    expect(near.map(({ entry: { id } }) => away(angles[Number(id.slice(5))]!))).toEqual(expected.slice(0, 30));
  });

  it('are left out when they are of another text, and the response is incomplete then', async () => {
    const vectors = await vectorsOf([
      stored(1, at(0), { version: 'v0' }),
      stored(2, at(5)),
      stored(4, at(1), { model: 'x' }),
    ]);
    const ask = (known: SearchEntry[]) => vectors.nearest(query, { known, collections: ['docs'], limit: 9 });
    expect(await ask([entry(1), entry(2)])).toMatchObject({ near: [{ entry: { id: 'docs:2' } }], isComplete: false });
    expect(await ask([entry(2), entry(3)])).toMatchObject({ isComplete: false });
    expect(await ask([entry(4)])).toMatchObject({ near: [], isComplete: false });
    expect(await ask([entry(1, 'tasks-active'), entry(2)])).toMatchObject({ isComplete: true });
  });

  it('are bounded', async () => {
    const vectors = await vectorsOf([stored(1, at(0)), stored(1, at(0, 1))]);
    expect(vectors.hasRoomFor(maxVectors - 2)).toBe(true);
    expect(vectors.hasRoomFor(maxVectors - 1)).toBe(false);
    vectors.drop('docs:1');
    expect(vectors.hasRoomFor(maxVectors)).toBe(true);
  });
});
