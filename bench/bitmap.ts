/**
 * The bitmap index as a process of its own: import, durable single writes, queries from eight connections, memory, and how
 * long a start takes. Its arguments: how many bits over how many columns, one after the other; `M` is a million.
 *
 *   npm run --silent build && node dist/bench/bitmap.js
 *   BENCH_SECONDS=3 node dist/bench/bitmap.js 10M/1M 10M/100M 100M/100M
 *   BITMAP_THREADS=0 node dist/bench/bitmap.js 10M/100M
 *
 * The field of rows has 100 of them, row r about 1/sqrt(r+1) as full as row 0. The integer field has a value from 0 to
 * 999,999 for each of a million columns, or for every hundredth of a hundred million. Every request asks something else than
 * the one before. The server caches no results, but what stored rows share with each other: "TopN with a row" gains from
 * that, "TopN with a union" does not.
 *
 * "processor ms" is what one request costs the server's process: its inverse is what one core could serve, whatever else
 * the machine is doing. "bare ms" is what a loop over plain arrays with the same data costs, for up to ten million columns.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { MessageWriter } from '../services/bitmap/answers/wire';
import { BareBits } from './floor/bits';
import { load } from './load';
import { request } from './request';

const seconds = Number(process.env.BENCH_SECONDS ?? '3');
const amount = (text: string): number => {
  const value = Number(text.replace('M', '')) * (text.endsWith('M') ? 1_000_000 : 1);
  if (!Number.isInteger(value) || value <= 0) {
    throw new Error(`${text} is not a number of bits or columns`);
  }
  return value;
};
const cases = process.argv.length > 2 ? process.argv.slice(2) : ['10M/1M', '10M/100M'];
const sizes = cases.map((size) => {
  const [bits = '', columns = ''] = size.split('/');
  return { bits: amount(bits), columns: amount(columns) };
});
const rowCount = 100;
const batch = 100_000;
/** So many requests are made beforehand, and sent: all of them would take too much memory. */
const batchesAtOnce = 100;
const connections = 8;
/** Only the measurements whose names match. */
const only = new RegExp(process.env.BENCH_ONLY ?? '');

/** Requests a second of the original server, on a machine like this one, for 10M bits over 1M and 100M columns. */
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
        ...(process.env.BITMAP_THREADS === undefined ? {} : { BITMAP_THREADS: process.env.BITMAP_THREADS }),
        NODE_ENV: 'production',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url?: string };
    if (url === undefined) {
      continue;
    }
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

/** Waits until the server has nothing left to do: snapshots of what was imported are written after the responses. */
async function quiet(server: Running): Promise<void> {
  let before = -Infinity;
  for (let used = await processorMs(server); used - before > 20; used = await processorMs(server)) {
    before = used;
    await delay(300);
  }
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

function post(url: string, path: string, body?: string | Uint8Array): Promise<string> {
  const headers: Record<string, string> =
    typeof body === 'object' ? { 'Content-Type': 'application/x-protobuf', Accept: 'application/x-protobuf' } : {};
  return request(url + path, { method: 'POST', body, headers });
}

/** Shows progress on a terminal. */
function progress(text: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\x1b[K${text}`);
  }
}

/** Sends bodies that are made beforehand, eight at a time; returns how many seconds the server took. */
async function importAll(
  url: string,
  { path, count }: { path: string; count: number },
  bodyAt: (at: number) => Uint8Array,
): Promise<number> {
  let tookMs = 0;
  for (let from = 0; from < count; from += batchesAtOnce) {
    const waiting = Array.from({ length: Math.min(batchesAtOnce, count - from) }, (_, at) => bodyAt(from + at));
    const began = performance.now();
    const send = async (): Promise<void> => {
      for (let body = waiting.pop(); body; body = waiting.pop()) {
        await post(url, path, body);
      }
    };
    await Promise.all(Array.from({ length: connections }, send));
    tookMs += performance.now() - began;
    progress(`${path}: ${from + batchesAtOnce} of ${count} requests`);
  }
  return tookMs / 1000;
}

/** Clients sort what they send by row and column, and by shard: as the published ones do. */
function bitBody(columns: number, bare: BareBits | undefined): Uint8Array {
  const rows = weights.map((weight) =>
    Array.from(
      Float64Array.from({ length: Math.round((batch * weight) / total) }, () => Math.floor(random() * columns)).sort(),
    ),
  );
  rows.forEach((own, at) => own.forEach((column) => bare?.set(at, column)));
  return new MessageWriter()
    .text(1, 'i')
    .text(2, 'a')
    .integers(4, [rows.flatMap((own, at) => own.map(() => at))])
    .integers(5, [rows.flat()])
    .finish();
}

interface Values {
  count: number;
  body: (at: number, bare: BareBits | undefined) => Uint8Array;
}

function valuesOver(columns: number): Values {
  const step = columns > 10_000_000 ? 100 : 1;
  const count = Math.floor(columns / step);
  const body = (at: number, bare: BareBits | undefined): Uint8Array => {
    const own = Array.from({ length: Math.min(batch, count - at * batch) }, (_value, i) => (at * batch + i) * step);
    const numbersOfOwn = own.map(() => Math.floor(random() * 1_000_000));
    numbersOfOwn.forEach((value, i) => bare?.setValue(at * batch + i, value));
    return new MessageWriter().text(1, 'i').text(2, 'v').integers(5, [own]).integers(6, [numbersOfOwn]).finish();
  };
  return { count, body };
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

/** Measured beside callers of "TopN with a union". */
const beside: Record<string, (columns: number) => string> = {
  'Count(Row) beside TopN': () => `Count(${row()})`,
  'single Set beside TopN': (columns) => `Set(${Math.floor(random() * columns)}, s=${Math.floor(random() * rowCount)})`,
};

/** Requests a second beside callers of something heavy, four of each. */
async function measureBeside(server: Running, light: () => string, heavy: () => string) {
  const port = Number(new URL(server.url).port);
  const answered = (body: () => string) =>
    load({ port, path: '/index/i/query', connections: connections / 2, seconds, body });
  const [lightly, heavily] = await Promise.all([answered(light), answered(heavy)]);
  return {
    perSecond: lightly.perSecond,
    'p50 ms': lightly.p50Ms,
    'p99 ms': lightly.p99Ms,
    'heavy per s': heavily.perSecond,
  };
}

async function logWrites({ url }: Running): Promise<number> {
  const metrics = await request(`${url}/metrics`);
  return Number(/^bitmap_log_writes (\d+)$/m.exec(metrics)?.[1]);
}

async function measure(server: Running, query: () => string) {
  // What the round before left unanswered comes first.
  await post(server.url, '/index/i/query', 'Count(Row(a=0))');
  const before = await processorMs(server);
  const writesBefore = await logWrites(server);
  const path = '/index/i/query';
  const result = await load({ port: Number(new URL(server.url).port), path, connections, seconds, body: query });
  const usedMs = (await processorMs(server)) - before;
  const writes = (await logWrites(server)) - writesBefore;
  return {
    perSecond: result.perSecond,
    'p50 ms': result.p50Ms,
    'p99 ms': result.p99Ms,
    'processor ms': Number((usedMs / result.requests).toFixed(3)),
    'for each disk write': writes > 0 ? Number((result.requests / writes).toFixed(1)) : undefined,
  };
}

/** Everything about one size: imports, measures, stops, and starts again. */
async function benchmark({ bits, columns }: { bits: number; columns: number }, directory: string): Promise<void> {
  const requests = Math.ceil(bits / batch);
  const values = valuesOver(columns);
  const bare = BareBits.for(rowCount, { columns, values: values.count });
  const rows: Record<string, unknown>[] = [];
  const add = (name: string, perSecond: number, rest: object = {}): void => {
    const theirs = bits === 10_000_000 ? original[name]?.[columns > 10_000_000 ? 1 : 0] : undefined;
    rows.push({
      name,
      ...rest,
      'per s': perSecond,
      'original per s': theirs,
      times: theirs && Number((perSecond / theirs).toFixed(1)),
    });
  };
  let server = await start(directory);
  const emptyMb = await residentMb(server);
  await post(server.url, '/index/i');
  for (const field of ['a', 's']) {
    await post(server.url, `/index/i/field/${field}`);
  }
  await post(server.url, '/index/i/field/v', '{"options":{"type":"int","min":0,"max":1000000}}');
  const bitSeconds = await importAll(server.url, { path: '/index/i/field/a/import', count: requests }, () =>
    bitBody(columns, bare),
  );
  add('import, bits/s', Math.round((requests * batch) / bitSeconds));
  const valueRequests = Math.ceil(values.count / batch);
  const valueSeconds = await importAll(server.url, { path: '/index/i/field/v/import', count: valueRequests }, (at) =>
    values.body(at, bare),
  );
  add('import, values/s', Math.round(values.count / valueSeconds));
  const importedMb = await residentMb(server);
  const quietMs = await timed(() => quiet(server));
  await post(server.url, '/recalculate-caches').catch(() => undefined);
  const firstRangeMs = await timed(() => post(server.url, '/index/i/query', 'Count(Row(v > 5))'));
  const loops = bare?.measure(random);
  for (const [name, query] of Object.entries(queries)) {
    if (!only.test(name)) {
      continue;
    }
    progress(name);
    const { perSecond, ...rest } = await measure(server, () => query(columns));
    add(name, perSecond, { ...rest, 'bare ms': loops?.[name] });
  }
  for (const [name, light] of Object.entries(beside)) {
    if (!only.test(name)) {
      continue;
    }
    progress(name);
    const heavy = queries['TopN with a union'] ?? row;
    const { perSecond, ...rest } = await measureBeside(
      server,
      () => light(columns),
      () => heavy(columns),
    );
    add(name, perSecond, rest);
  }
  const measuredMb = await residentMb(server);
  progress('stopping, and starting again');
  const stopMs = await timed(() => stop(server));
  server = await start(directory);
  progress('');
  console.log(`\n${bits.toLocaleString()} bits over ${columns.toLocaleString()} columns`);
  console.table(rows);
  console.log({
    'snapshots after import, ms': quietMs,
    firstRangeMs,
    stopMs,
    startMs: Math.round(server.startedInMs),
    'MB empty': emptyMb,
    'MB after import': importedMb,
    'MB after queries': measuredMb,
    'MB after restart': await residentMb(server),
  });
  await stop(server);
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return Math.round(performance.now() - began);
}

async function main(): Promise<void> {
  for (const size of sizes) {
    const directory = await mkdtemp(join(tmpdir(), 'runboard-bench-bitmap-'));
    try {
      await benchmark(size, directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

void main();
