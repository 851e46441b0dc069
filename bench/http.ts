/**
 * Requests a second and p99 of the HTTP layer, with the API as a process of its own (no Temporal) on a fresh board, each beside
 * a bare Koa that answers the same bytes to the same connections.
 *
 *   npm run --silent build && node dist/bench/http.js
 *   BENCH_SECONDS=5 BENCH_TASKS=1000,5000 node dist/bench/http.js
 *   BENCH_TASKS=200 node scripts/with-mongo.mjs node dist/bench/http.js
 *   BENCH_LOADS='create;patch, one task' BENCH_CONNECTIONS=1 node dist/bench/http.js
 *
 * The callers (autocannon) run in this process and take the other core: list responses of several hundred kilobytes are
 * as much work to read as to send. "processor ms" is what one request costs the API's process: its inverse is what one
 * core could serve, whatever else the machine is doing.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { startApi } from '../api/start';
import { readEnvironment } from '../platform/config/env';
import { createLog } from '../platform/log/log';
import { countResponses } from './floor/counting-client';
import type { BareAnswer, BareMessage } from './floor/koa';
import { boardOf, createTask, storeOfBench } from './service';

const seconds = Number(process.env.BENCH_SECONDS ?? '5');
const connections = Number(process.env.BENCH_CONNECTIONS ?? '10');
/** The names of the loads that are measured; all of them without any. */
const chosen = process.env.BENCH_LOADS;
const sizes = (process.env.BENCH_TASKS ?? '1000,5000').split(',').map(Number);

/** All callers comment on the same task until it has so many comments, and then on the next. */
const commentsOfTask = 200;

/** `counted`: by a client that reads no responses, only their lengths. */
type Load = Omit<autocannon.Options, 'url'> & { name: string; path: string; counted?: boolean };

/** What the API's process has used of the processor so far, in milliseconds. */
async function processorMs(api: ChildProcess): Promise<number> {
  api.send('usage' satisfies BareMessage);
  const [usage] = (await once(api, 'message')) as [NodeJS.CpuUsage];
  return (usage.user + usage.system) / 1000;
}

/** The API of this benchmark, in the child: everything as in production but without limits and keys. */
async function serve(dataDir: string): Promise<void> {
  const env = readEnvironment({
    BOARD_PORT: '0',
    BOARD_DATA_DIR: dataDir,
    ...storeOfBench(),
    BOARD_AUTH_ENABLED: 'false',
    RATE_LIMIT_GLOBAL: '0',
    RATE_LIMIT_READ: '0',
    RATE_LIMIT_WRITE: '0',
    RATE_LIMIT_UPLOAD: '0',
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
  });
  const api = await startApi(env, createLog({ name: 'bench', level: env.LOG_LEVEL }));
  process.on('message', () => process.send?.(process.cpuUsage()));
  process.once('disconnect', () => void api.close().then(() => process.exit(0)));
  process.send?.(api.url);
}

const description = 'Say what is wanted, why, and how one sees that it is done. '.repeat(4);

/** Makes the board of one round, a few at a time, and returns the ids of its tasks. */
async function fill(url: string, count: number): Promise<string[]> {
  const board = boardOf({ apiUrl: url });
  let made = 0;
  const ids: string[] = [];
  const make = async (): Promise<void> => {
    while (made < count) {
      const number = (made += 1);
      const task = { title: `Task ${number}`, description, project: `p${number % 7}`, priority: 'high' as const };
      ids.push(await createTask(board, task));
    }
  };
  await Promise.all(Array.from({ length: 8 }, make));
  return ids;
}

function loads(ids: string[]): Load[] {
  const headers = { 'Content-Type': 'application/json' };
  const patch = { method: 'PATCH' as const, headers, body: JSON.stringify({ priority: 'low' }) };
  let turn = 0;
  const nextTask = (request: autocannon.Request): autocannon.Request => ({
    ...request,
    path: `/api/tasks/${ids[(turn += 1) % ids.length] ?? ''}`,
  });
  const comment = {
    method: 'POST' as const,
    headers,
    body: JSON.stringify({ text: 'Reviewed: it does what is wanted.' }),
  };
  let comments = 0;
  const nextDiscussion = (request: autocannon.Request): autocannon.Request => ({
    ...request,
    path: `/api/tasks/${ids[Math.floor((comments += 1) / commentsOfTask) % ids.length] ?? ''}/comments`,
  });
  const one = `/api/tasks/${ids[0] ?? ''}`;
  return [
    { name: 'health', path: '/api/health' },
    { name: 'list', path: '/api/tasks' },
    { name: 'list, counted', path: '/api/tasks', counted: true },
    { name: 'list, 50 a page', path: '/api/tasks?limit=50&status=todo' },
    { name: 'get', path: one },
    {
      name: 'create',
      path: '/api/tasks',
      method: 'POST',
      headers,
      body: JSON.stringify({ title: 'New', description }),
    },
    { name: 'patch, many tasks', path: one, ...patch, requests: [{ setupRequest: nextTask }] },
    { name: 'patch, one task', path: one, ...patch },
    { name: 'comment, one task', path: `${one}/comments`, ...comment, requests: [{ setupRequest: nextDiscussion }] },
  ];
}

async function measure(api: ChildProcess, url: string, load: Load) {
  const perform = (duration: number) => (load.counted ? count(url, load, duration) : fire(url, load, duration));
  await perform(1);
  const before = await processorMs(api);
  const { total, ...figures } = await perform(seconds);
  const usedMs = (await processorMs(api)) - before;
  return { name: load.name, ...figures, 'processor ms': Math.round((usedMs / total) * 1000) / 1000 };
}

async function count(url: string, { path }: Load, duration: number) {
  const counted = await countResponses({ url: `${url}${path}`, connections, seconds: duration });
  return {
    total: counted.total,
    'requests/s': counted.requestsPerSecond,
    'p50 ms': counted.p50Ms,
    'p99 ms': counted.p99Ms,
    'MB/s': Math.round(counted.bytesPerSecond / 1e6),
    failed: 0,
  };
}

async function fire(url: string, { name: _name, path, counted: _counted, ...load }: Load, duration: number) {
  const result = await autocannon({ connections, ...load, duration, url: `${url}${path}` });
  return {
    total: result.requests.total,
    'requests/s': Math.round(result.requests.average),
    'p50 ms': result.latency.p50,
    'p99 ms': result.latency.p99,
    'MB/s': Math.round(result.throughput.average / 1e6),
    failed: result.non2xx + result.errors,
  };
}

/** What the API answers to the request of a load. */
async function answerOf(url: string, { path, method = 'GET', body }: Load): Promise<BareAnswer> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: String(body) }),
  });
  const type = response.headers.get('content-type') ?? 'application/json';
  return { status: response.status, type, body: await response.text() };
}

/** A load of the API and, before it, of the bare server with the same answer. */
async function measureBoth(api: Served, bare: Served, load: Load) {
  bare.child.send((await answerOf(api.url, load)) satisfies BareMessage);
  await once(bare.child, 'message');
  const floor = await measure(bare.child, bare.url, load);
  const measured = await measure(api.child, api.url, load);
  return {
    ...measured,
    'bare requests/s': floor['requests/s'],
    'bare p99 ms': floor['p99 ms'],
    'bare processor ms': floor['processor ms'],
    'times bare, processor': Math.round((measured['processor ms'] / floor['processor ms']) * 10) / 10,
  };
}

/** A server in a process of its own. */
interface Served {
  child: ChildProcess;
  url: string;
}

async function startServer(script: string, ...args: string[]): Promise<Served> {
  const child = fork(script, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [url] = (await once(child, 'message')) as [string];
  return { child, url };
}

async function stopServer({ child }: Served): Promise<void> {
  child.disconnect();
  await once(child, 'exit');
}

async function round(count: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'runboard-bench-http-'));
  const api = await startServer(__filename, 'serve', dataDir);
  const bare = await startServer(join(__dirname, 'floor', 'koa.js'));
  try {
    const ids = await fill(api.url, count);
    const rows = [];
    for (const load of loads(ids).filter(({ name }) => chosen === undefined || chosen.split(';').includes(name))) {
      rows.push(await measureBoth(api, bare, load));
    }
    console.log(`\n${count} tasks, ${connections} connections, ${seconds} s each, load ${loadavg()[0]?.toFixed(1)}`);
    console.table(rows);
  } finally {
    await stopServer(bare);
    await stopServer(api);
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const [, , command, dataDir] = process.argv;
  if (command === 'serve' && dataDir) {
    return serve(dataDir);
  }
  for (const count of sizes) {
    await round(count);
  }
}

void main();
