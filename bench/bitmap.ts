/**
 * The bitmap index as a process of its own: import, durable single writes, and queries from eight connections, on ten
 * million bits over one million columns and over a hundred million columns.
 *
 *   npm run --silent build && node dist/bench/bitmap.js
 *   BENCH_SECONDS=3 BENCH_BITS=10000000 BENCH_COLUMNS=1000000,100000000 node dist/bench/bitmap.js
 *
 * The field of rows has 100 of them, row r about 1/sqrt(r+1) as full as row 0. The integer field has a value from 0 to
 * 999,999 for each of a million columns, or for every hundredth of a hundred million. Every request asks something else than
 * the one before, so that nothing is answered from a memory of answers.
 *
 * "processor ms" is what one request costs the server's process: its inverse is what one core could answer, whatever else
 * the machine is doing.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MessageWriter } from '../services/bitmap/answers/wire';
import { load } from './load';

const seconds = Number(process.env.BENCH_SECONDS ?? '3');
const bits = Number(process.env.BENCH_BITS ?? '10000000');
const columnCounts = (process.env.BENCH_COLUMNS ?? '1000000,100000000').split(',').map(Number);
const rowCount = 100;
const batch = 100_000;
const connections = 8;
/** Only the measurements whose names have this in them. */
const only = process.env.BENCH_ONLY ?? '';

/** What the original server answered a second, on a machine like this one, for 10M bits over 1M and 100M columns. */
const original: Record<string, readonly [number, number]> = {
  'import, bits/s': [710_000, 800_000],
  'single Set': [1235, 584],
  'Count(Row)': [1485, 171],
  'Count(Intersect of 2)': [1044, 83],
  'Count(Union of 5)': [541, 21],
  'TopN(n=10)': [1460, 189],
  'TopN with a row': [115, 3],
  'Count(Row(v > n))': [78, 16],
  Sum: [1433, 66],
  'Min and Max': [185, 27],
};

interface Running {
  child: ChildProcess;
  url: string;
  startedInMs: number;
}

async function start(directory: string): Promise<Running> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [...(process.env.BENCH_NODE_ARGS?.split(' ') ?? []), join(__dirname, '..', 'services', 'bitmap', 'main.js')],
    {
      env: {
        PATH: process.env.PATH,
        BOARD_DATA_DIR: directory,
        BOARD_AUTH_ENABLED: 'false',
        BITMAP_PORT: '0',
        NODE_ENV: 'production',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url?: string };
    if (url === undefined) continue;
    child.stdout.resume();
    // A measurement that fails leaves no server behind.
    process.once('exit', () => child.kill('SIGKILL'));
    return { child, url, startedInMs: performance.now() - began };
  }
  throw new Error('the server ended before it listened');
}

async function stop({ child }: Running): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function residentMb({ child }: Running): Promise<number> {
  const status = await readFile(`/proc/${child.pid ?? 0}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

/** What the server has used of the processors so far, in milliseconds; the kernel counts in hundredths of a second. */
async function processorMs({ child }: Running): Promise<number> {
  const fields = (await readFile(`/proc/${child.pid ?? 0}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The same numbers in every run. */
function* randomNumbers(): Generator<number, never> {
  let state = 12345;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}
const numbers = randomNumbers();
const random = (): number => numbers.next().value;

const weights = Array.from({ length: rowCount }, (_, row) => 1 / Math.sqrt(row + 1));
const total = weights.reduce((sum, weight) => sum + weight, 0);
const shares = weights.map((_, row) => weights.slice(0, row + 1).reduce((sum, weight) => sum + weight, 0) / total);
const randomRow = (): number => {
  const at = random();
  return Math.max(
    shares.findIndex((share) => at < share),
    0,
  );
};

async function post(url: string, path: string, body?: string | Uint8Array): Promise<string> {
  const headers: Record<string, string> =
    typeof body === 'object' ? { 'Content-Type': 'application/x-protobuf', Accept: 'application/x-protobuf' } : {};
  const reply = await fetch(url + path, { method: 'POST', body, headers });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status} ${text}`);
  return text;
}

/** Sends bodies that are made beforehand, eight at a time; answers how many seconds the server took. */
async function importAll(url: string, path: string, bodies: Uint8Array[]): Promise<number> {
  const waiting = [...bodies];
  const began = performance.now();
  const send = async (): Promise<void> => {
    for (let body = waiting.pop(); body; body = waiting.pop()) await post(url, path, body);
  };
  await Promise.all(Array.from({ length: connections }, send));
  return (performance.now() - began) / 1000;
}

/** Clients sort what they send by row and column, and by shard: as the published ones do. */
function bitBodies(columns: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bits / batch) }, () => {
    const pairs = Array.from({ length: batch }, () => [randomRow(), Math.floor(random() * columns)] as const);
    pairs.sort(([a, c], [b, d]) => a - b || c - d);
    return new MessageWriter()
      .text(1, 'i')
      .text(2, 'a')
      .integers(4, [pairs.map(([row]) => row)])
      .integers(5, [pairs.map(([, column]) => column)])
      .finish();
  });
}

function valueBodies(columns: number): { count: number; bodies: Uint8Array[] } {
  const step = columns > 10_000_000 ? 100 : 1;
  const count = Math.floor(columns / step);
  const bodies = Array.from({ length: Math.ceil(count / batch) }, (_, at) => {
    const own = Array.from({ length: Math.min(batch, count - at * batch) }, (_value, i) => (at * batch + i) * step);
    return new MessageWriter()
      .text(1, 'i')
      .text(2, 'v')
      .integers(5, [own])
      .integers(6, [own.map(() => Math.floor(random() * 1_000_000))])
      .finish();
  });
  return { count, bodies };
}

const row = (): string => `Row(a=${Math.floor(random() * rowCount)})`;
const list = (length: number): string => Array.from({ length }, row).join(', ');

const queries: Record<string, (columns: number) => string> = {
  'single Set': (columns) => `Set(${Math.floor(random() * columns)}, s=${Math.floor(random() * rowCount)})`,
  'Count(Row)': () => `Count(${row()})`,
  'Count(Intersect of 2)': () => `Count(Intersect(${list(2)}))`,
  'Count(Union of 5)': () => `Count(Union(${list(5)}))`,
  'TopN(n=10)': () => 'TopN(a, n=10)',
  'TopN with a row': () => `TopN(a, ${row()}, n=10)`,
  // What stored rows share is remembered; what they share with something that was just made is not.
  'TopN with a union': () => `TopN(a, Union(${list(2)}), n=10)`,
  'Count(Row(v > n))': () => `Count(Row(v > ${Math.floor(random() * 1_000_000)}))`,
  'Count(Intersect(Row, v > n))': () => `Count(Intersect(${row()}, Row(v > ${Math.floor(random() * 1_000_000)})))`,
  Sum: () => 'Sum(field=v)',
  'Sum of a row': () => `Sum(${row()}, field=v)`,
  'Min and Max': () => 'Min(field=v) Max(field=v)',
};

async function measure(server: Running, query: () => string) {
  // What the round before left unanswered comes first.
  await post(server.url, '/index/i/query', 'Count(Row(a=0))');
  const before = await processorMs(server);
  const path = '/index/i/query';
  const result = await load({ port: Number(new URL(server.url).port), path, connections, seconds, body: query });
  const usedMs = (await processorMs(server)) - before;
  return {
    perSecond: result.perSecond,
    'p50 ms': result.p50Ms,
    'p99 ms': result.p99Ms,
    'processor ms': Number((usedMs / result.requests).toFixed(3)),
  };
}

async function main(): Promise<void> {
  for (const [at, columns] of columnCounts.entries()) {
    // Before the server is asked anything: making them takes longer than it keeps an idle connection.
    const bodies = bitBodies(columns);
    const values = valueBodies(columns);
    const directory = await mkdtemp(join(tmpdir(), 'runboard-bench-bitmap-'));
    try {
      let server = await start(directory);
      await post(server.url, '/index/i');
      for (const field of ['a', 's']) await post(server.url, `/index/i/field/${field}`);
      await post(server.url, '/index/i/field/v', '{"options":{"type":"int","min":0,"max":1000000}}');
      const rows: Record<string, unknown>[] = [];
      const add = (name: string, perSecond: number, rest: object = {}): void => {
        const theirs = original[name]?.[columns > 10_000_000 ? 1 : 0];
        rows.push({
          name,
          ...rest,
          'per s': perSecond,
          'original per s': theirs,
          times: theirs && Number((perSecond / theirs).toFixed(1)),
        });
      };
      add('import, bits/s', Math.round(bits / (await importAll(server.url, '/index/i/field/a/import', bodies))));
      add(
        'import, values/s',
        Math.round(values.count / (await importAll(server.url, '/index/i/field/v/import', values.bodies))),
      );
      const memoryMb = await residentMb(server);
      await post(server.url, '/recalculate-caches').catch(() => undefined);
      const first = performance.now();
      await post(server.url, '/index/i/query', 'Count(Row(v > 5))');
      const firstRangeMs = Math.round(performance.now() - first);
      for (const [name, query] of Object.entries(queries)) {
        if (!name.includes(only)) continue;
        const { perSecond, ...rest } = await measure(server, () => query(columns));
        add(name, perSecond, rest);
      }
      const memoryAfterMb = await residentMb(server);
      await stop(server);
      server = await start(directory);
      console.log(
        `\n${bits.toLocaleString()} bits over ${columns.toLocaleString()} columns (${at + 1} of ${columnCounts.length})`,
      );
      console.table(rows);
      console.log({
        memoryMb,
        memoryAfterMb,
        firstRangeMs,
        restartMs: Math.round(server.startedInMs),
        memoryRestartedMb: await residentMb(server),
      });
      await stop(server);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

void main();
