import { createVectors, type KnownDocuments } from '../../api/knowledge/search/vectors';
import { plainDotProducts, simdDotProducts } from '../../platform/vectors/dot-products';
import { createVectorRows } from '../../platform/vectors/vector-rows';
import type { SearchEntry } from '../../stores/knowledge/search/entry-store';
import type { DocumentVectors, SearchVectorStore } from '../../stores/knowledge/search/vector-store';

/**
 * What the nearest of many vectors take to be found, without a model and a store:
 * `node dist/bench/knowledge/vectors.js [vectors] [queries] [dimensions]`. The cases take turns, and so meet the same neighbours.
 */
const total = Number(process.argv[2] ?? 100_000);
const repeats = Number(process.argv[3] ?? 100);
const dimensions = Number(process.argv[4] ?? 384);

function someVector(): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const percentile = (times: number[], part: number): string =>
  (times.sort((x, y) => x - y)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0).toFixed(1);

async function main(): Promise<void> {
  const [plain, simd] = [plainDotProducts, simdDotProducts].map((multiply) => createVectorRows(dimensions, multiply));
  const store: Pick<SearchVectorStore, 'published' | 'between'> = {
    published: async () => 1,
    async *between(): AsyncGenerator<DocumentVectors & { batch: number }> {
      for (let n = 0; n < total; n += 1) {
        const vector = someVector();
        plain?.add(vector);
        simd?.add(vector);
        yield { id: `task:${n}`, version: 'v', model: 'bench', vectors: [vector], batch: 1 };
      }
    },
  };
  const vectors = createVectors(store as SearchVectorStore, 'bench');
  await vectors.sync();
  const entries = new Map(
    Array.from({ length: total }, (_, n): [string, SearchEntry] => [
      `task:${n}`,
      { id: `task:${n}`, version: 'v', collection: 'tasks-archive' },
    ]),
  );
  let revision = 0;
  const known: KnownDocuments = {
    all: () => entries.values(),
    entryOf: (id) => entries.get(id),
    revision: () => revision,
  };
  const collections: SearchEntry['collection'][] = ['tasks-archive'];
  const cases: [string, (query: Float32Array) => Promise<unknown>][] = [
    ['every vector, JavaScript', async (query) => plain?.scores(query)],
    ['every vector, WebAssembly', async (query) => simd?.scores(query)],
    ['the nearest documents of all', (query) => vectors.nearest(query, { known, collections, limit: 40 })],
    [
      'the same after a change of the index',
      (query) => {
        revision += 1;
        return vectors.nearest(query, { known, collections, limit: 40 });
      },
    ],
  ];
  const times = cases.map(() => ({ wall: [] as number[], cpu: [] as number[] }));
  for (let n = 0; n < repeats; n += 1) {
    for (const [index, [, find]] of cases.entries()) {
      const query = someVector();
      const [begun, cpu] = [performance.now(), process.cpuUsage()];
      await find(query);
      const used = process.cpuUsage(cpu);
      times[index]?.wall.push(performance.now() - begun);
      times[index]?.cpu.push((used.user + used.system) / 1_000);
    }
  }
  console.log(`${total} vectors of ${dimensions} numbers, ${repeats} queries`);
  console.log('| compared | p50 ms | p95 ms | p50, CPU | p95, CPU |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  for (const [index, [name]] of cases.entries()) {
    const { wall = [], cpu = [] } = times[index] ?? {};
    const figures = [wall, cpu].flatMap((all) => [0.5, 0.95].map((part) => percentile(all, part)));
    console.log(`| ${name} | ${figures.join(' | ')} |`);
  }
}

void main();
