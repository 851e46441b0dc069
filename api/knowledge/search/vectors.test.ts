import fc from 'fast-check';
import type { SearchEntry } from '../../../stores/knowledge/search/entry-store';
import type { DocumentVectors, SearchVectorStore } from '../../../stores/knowledge/search/vector-store';
import { createVectors, type KnownDocuments, maxVectors } from './vectors';

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

/** What the index has; another state of it for each test. */
let revisions = 0;
function knownOf(entries: SearchEntry[]): KnownDocuments {
  const byId = new Map(entries.map((one) => [one.id, one]));
  const revision = (revisions += 1);
  return { all: () => entries, entryOf: (id) => byId.get(id), revision: () => revision };
}

describe('vectors of documents', () => {
  it('are compared part by part, and the nearest documents come first', async () => {
    const vectors = await vectorsOf([stored(1, at(90, 40)), stored(2, at(10)), stored(3, at(60, 20, 80))]);
    const known = knownOf([entry(1), entry(2), entry(3)]);
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
    const known = knownOf(angles.map((_, n) => entry(n)));
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
    const ask = (known: SearchEntry[]) =>
      vectors.nearest(query, { known: knownOf(known), collections: ['docs'], limit: 9 });
    expect(await ask([entry(1), entry(2)])).toMatchObject({ near: [{ entry: { id: 'docs:2' } }], isComplete: false });
    expect(await ask([entry(2), entry(3)])).toMatchObject({ isComplete: false });
    expect(await ask([entry(4)])).toMatchObject({ near: [], isComplete: false });
    expect(await ask([entry(1, 'tasks-active'), entry(2)])).toMatchObject({ isComplete: true });
  });

  it('are found among documents of other collections, however near those are', async () => {
    const vectors = await vectorsOf([
      ...Array.from({ length: 900 }, (_, n) => stored(n, at(0))),
      stored(1_000, at(90, 70)),
      stored(1_001, at(80)),
    ]);
    const others = Array.from({ length: 900 }, (_, n) => entry(n, 'tasks-active'));
    const known = knownOf([...others, entry(1_000), entry(1_001)]);
    const { near } = await vectors.nearest(query, { known, collections: ['docs'], limit: 2 });
    expect(near.map(({ entry: { id }, part }) => [id, part])).toEqual([
      ['docs:1000', 1],
      ['docs:1001', 0],
    ]);
  });

  it('are the nearest of all, as sorting every document by its nearest part does', async () => {
    const angle = fc.integer({ min: 0, max: 359 });
    const documents = fc.array(fc.array(angle, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(documents, fc.integer({ min: 1, max: 10 }), async (all, limit) => {
        const vectors = await vectorsOf(all.map((angles, n) => stored(n, at(...angles))));
        const known = knownOf(all.map((_, n) => entry(n)));
        const { near } = await vectors.nearest(query, { known, collections: ['docs'], limit });
        const expected = all.map((angles) => Math.max(...angles.map((one) => Math.cos((one * Math.PI) / 180))));
        const sorted = expected.sort((a, b) => b - a).slice(0, limit);
        expect(near).toHaveLength(sorted.length);
        near.forEach(({ score }, index) => expect(score).toBeCloseTo(sorted[index]!, 5));
      }),
    );
  });

  it('are complete or not after each change of the index', async () => {
    const vectors = await vectorsOf([stored(1, at(0))]);
    let entries = [entry(1)];
    let revision = 1;
    const known: KnownDocuments = {
      all: () => entries,
      entryOf: (id) => entries.find((one) => one.id === id),
      revision: () => revision,
    };
    const ask = () => vectors.nearest(query, { known, collections: ['docs'], limit: 9 });
    expect(await ask()).toMatchObject({ isComplete: true });
    entries = [entry(1), entry(2)];
    revision = 2;
    expect(await ask()).toMatchObject({ isComplete: false });
    entries = [];
    revision = 3;
    expect(await ask()).toEqual({ near: [], isComplete: true });
    entries = [entry(1)];
    revision = 4;
    expect(await ask()).toMatchObject({ isComplete: true });
    vectors.drop('docs:1');
    expect(await ask()).toEqual({ near: [], isComplete: false });
  });

  it('are bounded', async () => {
    const vectors = await vectorsOf([stored(1, at(0)), stored(1, at(0, 1))]);
    expect(vectors.hasRoomFor(maxVectors - 2)).toBe(true);
    expect(vectors.hasRoomFor(maxVectors - 1)).toBe(false);
    vectors.drop('docs:1');
    expect(vectors.hasRoomFor(maxVectors)).toBe(true);
  });
});
