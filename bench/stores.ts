/**
 * Prints how many operations a second each store does, beside the driver alone on the same disk or server, by turns:
 * `node dist/bench/stores.js` after a build. MongoDB's columns need `MONGODB_URL`, or
 * `node scripts/with-mongo.mjs node dist/bench/stores.js`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../platform/log/log';
import { openMongo } from '../stores/mongo/database';
import type { Collection, Database, EntryLog, LogEntry } from '../stores/port/collection';
import { openSqlite } from '../stores/sqlite/database';
import { bareMongo, bareSqlite, type BareStore } from './floor/stores';

interface Attempt {
  _id: string;
  taskId: string;
  state: string;
  revision: number;
  createdAt: string;
  prompt: string;
}

interface Line extends LogEntry {
  text: string;
}

const documents = 10_000;
const tasks = 500;
const secondsEach = Number(process.env.BENCH_SECONDS ?? '2');
const widths = [1, 50];

interface Subject {
  attempts: Collection<Attempt>;
  log: EntryLog<Line>;
}

const attempt = (id: string, at: number): Attempt => ({
  _id: id,
  taskId: `task_${at % tasks}`,
  state: at % 3 === 0 ? 'running' : 'ended',
  revision: 1,
  createdAt: new Date(1_700_000_000_000 + at * 1000).toISOString(),
  prompt: 'Make the tests pass. '.repeat(20),
});

const operations: [name: string, operate: (subject: Subject, at: number, lane: number) => Promise<unknown>][] = [
  ['insert', ({ attempts }, at, lane) => attempts.insert(attempt(`new_${lane}_${at}_${Math.random()}`, at))],
  ['get', ({ attempts }, at) => attempts.get(`a_${at % documents}`)],
  [
    'indexed find of 20',
    ({ attempts }, at) => attempts.find({ taskId: `task_${at % tasks}` }, { sort: { createdAt: -1 }, limit: 20 }),
  ],
  [
    'compare-and-set, own document',
    ({ attempts }, at, lane) =>
      attempts.findOneAndUpdate(
        { _id: `a_${lane}`, revision: at + 1 },
        { $inc: { revision: 1 }, $set: { state: `${at}` } },
      ),
  ],
  [
    'compare-and-set, one document',
    ({ attempts }) => attempts.findOneAndUpdate({ _id: 'a_9999', state: 'running' }, { $inc: { revision: 1 } }),
  ],
  ['log append', ({ log }, at, lane) => log.append(`scope_${lane}`, [{ text: `line ${at}` }])],
];

/** What the driver has an operation of its own for, by the name of ours. */
const bareOperations: Record<string, (bare: BareStore, at: number, lane: number) => Promise<unknown>> = {
  insert: (bare, at, lane) => bare.insert({ ...attempt(`new_${lane}_${at}_${Math.random()}`, at) }),
  get: (bare, at) => bare.get(`a_${at % documents}`),
  'compare-and-set, own document': (bare, at, lane) => bare.compareAndSet(`a_${lane}`, at + 1, { state: `${at}` }),
  'log append': (bare, at, lane) =>
    bare.insert({ _id: `line_${lane}_${at}_${Math.random()}`, revision: 1, text: `line ${at}` }),
};

/** Operations a second that `width` lanes do together. */
async function measure(width: number, operate: (at: number, lane: number) => Promise<unknown>): Promise<number> {
  const end = performance.now() + secondsEach * 1000;
  let done = 0;
  const lane = async (own: number) => {
    for (let at = 0; performance.now() < end; at += 1) {
      await operate(at, own);
      done += 1;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: width }, (_, own) => lane(own)));
  return Math.round((done * 1000) / (performance.now() - start));
}

interface Rates {
  ours: number;
  bare: number | undefined;
}

async function benchmark(database: Database, openBare: (width: number) => Promise<BareStore>) {
  const suffix = `${process.pid}-${Date.now()}`;
  const results = new Map<string, Rates>();
  for (const width of widths) {
    const attempts = await database.collection<Attempt>({
      name: `bench-${suffix}-${width}`,
      indexes: [{ keys: { taskId: 1, createdAt: -1 } }, { keys: { state: 1 } }],
    });
    const log = await database.log<Line>({ name: `bench-log-${suffix}-${width}` });
    await Promise.all(Array.from({ length: documents }, (_, at) => attempts.insert(attempt(`a_${at}`, at))));
    const bare = await openBare(width);
    await bare.insertAll(Array.from({ length: documents }, (_, at) => ({ ...attempt(`a_${at}`, at) })));
    for (const [name, operate] of operations) {
      const ours = await measure(width, (at, lane) => operate({ attempts, log }, at, lane));
      const same = bareOperations[name];
      const floor = same && (await measure(width, (at, lane) => same(bare, at, lane)));
      results.set(`${name}, ${width} at a time`, { ours, bare: floor });
    }
    await bare.close();
    await attempts.deleteMany({ _id: { $gte: '' } });
  }
  return results;
}

async function main(): Promise<void> {
  const log = createLog({ name: 'bench', level: 'warn' });
  const directory = mkdtempSync(join(tmpdir(), 'runboard-bench-'));
  const url = process.env.MONGODB_URL;
  const table: Record<string, Record<string, number | string>> = {};
  const opened: [Database, (width: number) => Promise<BareStore>][] = [
    [
      await openSqlite({ file: join(directory, 'store.sqlite'), log }),
      async (width) => bareSqlite(join(directory, `bare-${width}.sqlite`)),
    ],
  ];
  if (url) {
    opened.push([await openMongo({ url, log }), () => bareMongo(url)]);
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  for (const [database, openBare] of opened) {
    for (const [name, { ours, bare }] of await benchmark(database, openBare)) {
      const { kind } = database;
      const ratio = bare === undefined ? '' : (ours / bare).toFixed(2);
      table[name] = { ...table[name], [`${kind}/s`]: ours, [`${kind} driver/s`]: bare ?? '', [`${kind} share`]: ratio };
    }
    await database.close();
  }
  rmSync(directory, { recursive: true, force: true });
  console.table(table);
}

void main();
