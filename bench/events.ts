/**
 * What watching costs: the time from an agent writing a line to a watcher receiving it, over the whole path (pipe,
 * redaction, store, feed, WebSocket), and how many events a second one worker stores and one watcher receives when agents
 * write as fast as they can. Beside it, in the same run: the same number of events appended to the store alone, and to a table by
 * the driver alone in the same batches; and a bare WebSocket server that receives a line by a pipe and sends it on.
 *
 *     npm run build && node dist/bench/events.js
 *     node scripts/with-mongo.mjs node dist/bench/events.js
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import { unwrap } from '../clients/typescript/src';
import { createLog } from '../platform/log/log';
import { createRepository } from '../scripts/demo/sample';
import { type RunningService, startAll } from '../scripts/start-all';
import { openDatabase } from '../stores/port/open';
import { createRunEventStore } from '../stores/runs/event-store';
import { createFeedStore } from '../stores/system/feed-store';
import { bareStore } from './floor/stores';
import { percentile } from './latency';
import {
  addRepository,
  boardOf,
  configureAgents,
  createTask,
  openService,
  type Run,
  startRun,
  storeOfBench,
} from './service';
import { startChild, stopChild } from './watchers/children';

const agentPath = join(__dirname, '..', '..', 'bench', 'events', 'agent.mjs');
const now = (): number => performance.timeOrigin + performance.now();
const round = (value: number): number => Math.round(value * 10) / 10;

const paced = { events: 1_000, everyMs: 10 };
const flood = { events: 20_000, runs: [1, 4] };

interface Received {
  /** From the agent's write to the watcher, in milliseconds. */
  latencies: number[];
  lastAt: number;
}

/** Follows a task to the end of its run and returns the progress it received. */
async function receiveEvents(apiUrl: string, taskId: string): Promise<Received> {
  const socket = new WebSocket(`${apiUrl.replace('http', 'ws')}/ws`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const received: Received = { latencies: [], lastAt: 0 };
  let sequence = 0;
  await new Promise<void>((resolve, reject) => {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as {
        type: string;
        sequence: number;
        data: { payload?: { at?: number } };
      };
      if (message.type === 'agent:complete') {
        resolve();
      }
      if (message.type !== 'agent:event') {
        return;
      }
      sequence += 1;
      if (message.sequence !== sequence) {
        reject(new Error(`received ${message.sequence} instead of ${sequence}`));
      }
      if (message.data.payload?.at === undefined) {
        return;
      }
      received.lastAt = now();
      received.latencies.push(received.lastAt - message.data.payload.at);
    });
    socket.once('close', (code) => reject(new Error(`the watcher was dropped: ${code}`)));
    socket.send(JSON.stringify({ type: 'subscribe', taskId }));
  }).finally(() => socket.terminate());
  return received;
}

interface WatchedRun extends Run {
  received: Promise<Received>;
}

/** Starts a run and watches it from its beginning. */
async function start(service: RunningService, agent: string): Promise<WatchedRun> {
  const board = boardOf(service);
  const taskId = await createTask(board, { title: agent, git: { repo: 'sample' } });
  return { ...(await startRun(board, taskId, { agent })), received: receiveEvents(service.apiUrl, taskId) };
}

/** When the worker took the first and the last line of a run that has ended, in milliseconds. */
async function taken(service: RunningService, { taskId, attemptId }: Run): Promise<{ first: number; last: number }> {
  const board = boardOf(service);
  const page = async (afterSequence: number, limit: number) => {
    const params = { path: { taskId, attemptId }, query: { afterSequence, limit } };
    const { events } = await unwrap(board.GET('/api/agents/{taskId}/attempts/{attemptId}/events', { params }));
    return events.filter(({ kind }) => kind === 'progress');
  };
  const [head, tail] = [await page(0, 10), await page(flood.events - 10, 50)];
  return { first: Date.parse(head[0]?.receivedAt ?? ''), last: Date.parse(tail.at(-1)?.receivedAt ?? '') };
}

async function measureLatency(service: RunningService): Promise<object> {
  const { latencies } = await (await start(service, 'paced')).received;
  // The first ones come while the run still starts.
  const settled = latencies.slice(50);
  return latencyRow('line to watcher', settled);
}

const latencyRow = (what: string, of: number[]) => ({
  what,
  events: of.length,
  'p50 ms': round(percentile(of, 0.5)),
  'p99 ms': round(percentile(of, 0.99)),
  'max ms': round(Math.max(...of)),
});

async function measureFlood(service: RunningService, runs: number): Promise<object> {
  const started = await Promise.all(Array.from({ length: runs }, () => start(service, 'flood')));
  const received = await Promise.all(started.map((run) => run.received));
  const times = await Promise.all(started.map((run) => taken(service, run)));
  const first = Math.min(...times.map((time) => time.first));
  const events = received.reduce((sum, { latencies }) => sum + latencies.length, 0);
  const rate = (until: number): number => Math.round((events / (until - first)) * 1000);
  return {
    'runs at once': runs,
    events,
    'stored/s': rate(Math.max(...times.map((time) => time.last))),
    'received/s': rate(Math.max(...received.map(({ lastAt }) => lastAt))),
  };
}

/** How many events a worker appends at a time when it has so many. */
const batch = 256;

/** As many events in a table or a collection by the driver alone. */
async function measureDriver(directory: string): Promise<number> {
  const bare = await bareStore(process.env.MONGODB_URL, join(directory, 'bare.sqlite'));
  const startedAt = now();
  for (let n = 0; n < flood.events; n += batch) {
    await bare.insertAll(
      Array.from({ length: batch }, (_, at) => ({
        _id: `process-${n + at}`,
        revision: 1,
        payload: { message: `step ${n + at} of the work`, percent: 50, at: now() },
      })),
    );
  }
  const perSecond = Math.round((flood.events / (now() - startedAt)) * 1000);
  await bare.close();
  return perSecond;
}

/** From a text given to a bare server, by a pipe, to the watcher that it sends it to. */
async function measureEcho(): Promise<object> {
  const { child, ready } = await startChild('bare-process', {});
  const socket = new WebSocket(ready.replace('http', 'ws'));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const latencies: number[] = [];
  for (let n = 0; n < paced.events; n += 1) {
    const received = new Promise<Buffer>((resolve) => socket.once('message', resolve));
    child.send(JSON.stringify({ at: now(), text: 'x'.repeat(600) }));
    const { at } = JSON.parse(String(await received)) as { at: number };
    latencies.push(now() - at);
    await delay(paced.everyMs);
  }
  socket.terminate();
  await stopChild(child);
  return latencyRow('bare pipe and WebSocket', latencies.slice(50));
}

/** The store by itself, with the batches a worker makes. */
async function measureStore(directory: string): Promise<object> {
  const database = await openDatabase({
    mongoUrl: process.env.MONGODB_URL,
    dataDir: directory,
    log: createLog({ name: 'bench', level: 'warn' }),
  });
  const events = await createRunEventStore(database, await createFeedStore(database));
  const source = {
    taskId: 'task_20260101_bench',
    attemptId: 'attempt_benchmark00',
    provider: 'process',
    agent: 'bench',
  };
  const startedAt = now();
  for (let n = 0; n < flood.events; n += batch) {
    const inputs = Array.from({ length: batch }, (_, at) => ({
      kind: 'progress' as const,
      payload: { message: `step ${n + at} of the work`, percent: 50, at: now() },
      dedupeKey: `process-${n + at}`,
    }));
    await events.append(source, inputs);
  }
  const perSecond = Math.round((flood.events / (now() - startedAt)) * 1000);
  await database.close();
  const bare = await measureDriver(directory);
  return {
    'batches of': batch,
    'appended/s': perSecond,
    'driver alone/s': bare,
    'times as many': round(bare / perSecond),
  };
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'runboard-bench-'));
  const agent = (type: string, { events, everyMs }: { events: number; everyMs: number }) => ({
    type,
    name: type,
    provider: 'process' as const,
    command: process.execPath,
    args: [agentPath, String(events), String(everyMs)],
  });
  const service = await startAll({
    environment: { ...openService, ...storeOfBench(), BOARD_RUN_OUTPUT_LIMIT_BYTES: '1000000000' },
    dataDir: join(directory, 'data'),
    ports: { api: 0 },
    quiet: true,
  });
  try {
    await createRepository(join(directory, 'sample'));
    const board = boardOf(service);
    await addRepository(board, { name: 'sample', path: join(directory, 'sample') });
    await configureAgents(board, [agent('paced', paced), agent('flood', { events: flood.events, everyMs: 0 })]);
    console.table([await measureEcho(), await measureLatency(service)]);
    const rows: object[] = [];
    for (const runs of flood.runs) {
      rows.push(await measureFlood(service, runs));
    }
    console.table(rows);
    console.table([await measureStore(directory)]);
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

void main();
