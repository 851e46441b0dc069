import { join } from 'node:path';
import Libsql from 'libsql';
import { openSearch } from '../../api/knowledge/search/open';
import { searchCollection } from '../../contracts/knowledge/search';
import { type Task, task as taskSchema, type TaskLocation } from '../../contracts/tasks/task';
import { createLog } from '../../platform/log/log';
import type { Embedder } from '../../platform/models/embed';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { openKnowledgeStores } from '../../stores/knowledge/open';
import { openSqlite } from '../../stores/sqlite/database';

/** What searches of many documents take, beside SQLite's FTS5 alone in the same run: `node dist/bench/knowledge/search.js [documents] [searches of a kind] [dimensions]`. */
const total = Number(process.argv[2] ?? 100_000);
const repeats = Number(process.argv[3] ?? 200);
const dimensions = Number(process.argv[4] ?? 384);

const vocabulary = 30_000;

/** The same numbers in each run. */
let seed = 7;
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return seed / 0x80000000;
}

const letters = 'etaoinshrdlucmfwypvbgkjqxz';
const nameOfWord = (n: number): string => {
  let word = '';
  for (let rest = n + 700; rest > 0; rest = Math.floor(rest / letters.length)) {
    word += letters[rest % letters.length] ?? '';
  }
  return word;
};
/** By Zipf's law, as words of texts are: the word of rank n is n times as rare as the first. */
const someWord = (): string => nameOfWord(Math.floor(vocabulary ** random()) - 1);
const words = (count: number): string[] => Array.from({ length: count }, someWord);

interface Placed {
  task: Task;
  location: TaskLocation;
}

function aTask(n: number): Placed {
  const at = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
  const task = taskSchema.parse({
    id: `task_20260101_${String(n).padStart(6, '0')}`,
    title: words(6).join(' '),
    description: words(80).join(' '),
    ...{ createdAt: at, updatedAt: at, revision: 1 },
  });
  return { task, location: n % 3 === 0 ? 'active' : 'archive' };
}

const from = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

const titleWords = ({ task }: Placed, count: number): string => task.title.split(' ').slice(0, count).join(' ');

const kinds = (tasks: readonly Placed[]): [string, () => string][] => [
  ['two words of a title', () => titleWords(from(tasks), 2)],
  ['five words of a text', () => from(tasks).task.description.split(' ').slice(10, 15).join(' ')],
  ['a rare word', () => nameOfWord(5_000 + Math.floor(random() * 25_000))],
  ['a word in a tenth', () => nameOfWord(8 + Math.floor(random() * 8))],
  ['a word in most', () => nameOfWord(Math.floor(random() * 3))],
  ['most and rare', () => `${nameOfWord(0)} ${nameOfWord(2_000 + Math.floor(random() * 5_000))}`],
  ['the beginning of a word', () => nameOfWord(3_000 + Math.floor(random() * 20_000)).slice(0, 3)],
  ['nothing', () => `zzqx${Math.floor(random() * 1e6)}`],
  ['twelve words, none has all', () => words(11).concat('zzqx').join(' ')],
  ['twelve words in most', () => Array.from({ length: 12 }, (_, n) => nameOfWord(n)).join(' ')],
];

const percentile = (sorted: readonly number[], part: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1);

interface Measured {
  /** In milliseconds, by the clock and of the process's CPU time, each sorted. */
  wall: number[];
  cpu: number[];
  found: number;
}

type Find = (query: string) => Promise<number> | number;

async function measure(find: Find, next: () => string): Promise<Measured> {
  const measured: Measured = { wall: [], cpu: [], found: 0 };
  for (let n = 0; n < repeats; n += 1) {
    const query = next();
    const [begun, cpu] = [performance.now(), process.cpuUsage()];
    const count = await find(query);
    const used = process.cpuUsage(cpu);
    measured.wall.push(performance.now() - begun);
    measured.cpu.push((used.user + used.system) / 1_000);
    measured.found += count / repeats;
  }
  return measured;
}

function print(name: string, { wall, cpu, found }: Measured): void {
  const parts = [wall, cpu].flatMap((times) => {
    const sorted = [...times].sort((x, y) => x - y);
    return [0.5, 0.95, 0.99].map((part) => percentile(sorted, part));
  });
  console.log(`| ${name} | ${found.toFixed(1)} | ${parts.join(' | ')} |`);
}

/** Vectors without a model: what is measured is their comparison. */
const embedder: Embedder = {
  model: 'bench',
  embed: async (texts) =>
    texts.map(() => {
      const vector = Float32Array.from({ length: dimensions }, () => random() - 0.5);
      const length = Math.hypot(...vector);
      return vector.map((value) => value / length);
    }),
};

/** The floor of a keyword search: the same words in a table of FTS5 by the driver alone, the twenty best. */
function openBare(file: string, tasks: readonly Placed[]): (query: string) => unknown[] {
  const database = new Libsql(file);
  database.exec('CREATE VIRTUAL TABLE bare USING fts5 (id UNINDEXED, title, text)');
  const insert = database.prepare('INSERT INTO bare (id, title, text) VALUES (?, ?, ?)');
  database.exec('BEGIN');
  for (const { task } of tasks) {
    insert.run(task.id, task.title, task.description);
  }
  database.exec('COMMIT');
  const match = database.prepare('SELECT id FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT 20');
  return (query) =>
    match.all(
      query
        .split(' ')
        .map((word) => `"${word}"`)
        .join(' ') + (query.includes(' ') ? '' : '*'),
    );
}

async function main(): Promise<void> {
  const directory = await makeTempDir('search');
  const log = createLog({ name: 'bench', level: 'error' });
  const database = await openSqlite({ file: join(directory.path, 'bench.sqlite'), log });
  const stores = await openKnowledgeStores(database, { BOARD_DATA_DIR: directory.path, BOARD_SKILL_ROOTS: [] });
  const tasks = Array.from({ length: total }, (_, n) => aTask(n));
  const byId = new Map(tasks.map((placed) => [placed.task.id, placed]));
  const search = openSearch({
    ...stores,
    // A board of files in memory: its index is in memory too, and what is left out is a `stat` for each result.
    board: {
      list: (_query, location) => {
        const own = tasks.filter((placed) => placed.location === (location ?? 'active')).map(({ task }) => task);
        return { tasks: own, total: own.length };
      },
      get: async (id) => {
        const placed = byId.get(id);
        return placed && { ...placed, path: `/board/${placed.location}/${id}.md` };
      },
      onChange: () => () => undefined,
      exclusive: (_name, work) => work({ assertHeld: () => undefined }),
    },
    documents: join(directory.path, 'none'),
    embedder,
    log,
  });
  const begun = performance.now();
  const close = await search.start();
  let rounds = 0;
  while (!(await search.refresh({ embed: false })).updated) {
    rounds += 1;
  }
  console.log(
    `${total} documents, indexed in ${((performance.now() - begun) / 1_000).toFixed(0)} s (${rounds} rounds)`,
  );
  console.log('| keyword search for | results | p50 ms | p95 ms | p99 ms | p50, CPU | p95, CPU | p99, CPU |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
  const bare = openBare(join(directory.path, 'bare.sqlite'), tasks);
  const by = (backend: 'keyword' | 'semantic') => async (query: string) =>
    (await search.find({ query, limit: 20, backend }, searchCollection.options)).results.length;
  const all: Measured = { wall: [], cpu: [], found: 0 };
  const different = kinds(tasks);
  for (const [name, next] of different) {
    const measured = await measure(by('keyword'), next);
    print(name, measured);
    print(`${name}, FTS5 alone`, await measure((query) => bare(query).length, next));
    all.wall.push(...measured.wall);
    all.cpu.push(...measured.cpu);
    all.found += measured.found / different.length;
  }
  print('all of these', all);
  const embeddingBegun = performance.now();
  while (!(await search.refresh({ embed: true })).embedded) {
    // Each refresh goes on for a while from where the one before it ended.
  }
  const took = ((performance.now() - embeddingBegun) / 1_000).toFixed(0);
  console.log(`${total} vectors of ${dimensions} numbers, stored in ${took} s`);
  print('semantic', await measure(by('semantic'), () => 'any'));
  console.log(`resident: ${Math.round(process.memoryUsage().rss / 1_048_576)} MB`);
  await close();
  await database.close();
  await directory.remove();
}

void main();
