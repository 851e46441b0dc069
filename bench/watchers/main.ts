/**
 * Many watchers of one hot run: how late events are over two replicas of the API on one store (MongoDB when `MONGODB_URL`
 * names an empty database); how many sockets one replica serves, beside a bare WebSocket server that sends the same text to as
 * many; and readers that read nothing for a while. Events are appended as by a worker, in batches of 10 ms.
 *
 *     npm run build && node dist/bench/watchers/main.js
 *     WATCHERS_SOCKETS=5000 WATCHERS_RATE=2000 node dist/bench/watchers/main.js
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMsOf, residentMb } from '../fleet/processes';
import { sizeOf } from '../fleet/sizes';
import { percentile } from '../latency';
import { boardOf, createTask } from '../service';
import { now, startChild, stopChild } from './children';
import { type HotRun, openHotRun } from './hot-run';
import { measureSlowReaders } from './slow-reader';
import type { Watched, Watching } from './watching-process';

const sockets = sizeOf('WATCHERS_SOCKETS', 1_000);
const eventsPerSecond = sizeOf('WATCHERS_RATE', 2_000);
/** Of the run that all sockets follow. */
const hotPerSecond = sizeOf('WATCHERS_HOT_RATE', 5);
const seconds = sizeOf('WATCHERS_SECONDS', 10);
const slowEvents = sizeOf('WATCHERS_SLOW_EVENTS', 20_000);
const readers = 2;

type Started = Awaited<ReturnType<typeof startChild>>;
const round = (value: number): number => Math.round(value * 10) / 10;
const pidOf = ({ child }: Pick<Started, 'child'>): number => child.pid ?? 0;

async function watch(run: HotRun, url: string, count: number): Promise<Started> {
  const { taskId, attemptId } = run;
  const watching: Watching = { url, sockets: count, taskId, attemptId, afterSequence: run.last };
  return startChild('watching-process', watching);
}

async function report({ child }: Started): Promise<Watched> {
  child.send('report');
  const [watched] = (await once(child, 'message')) as [Watched];
  return watched;
}

/** What watchers have received once nothing more comes, or all of it has. */
async function received(watching: Started, expected: number): Promise<Watched> {
  const all: Watched = { received: 0, outOfOrder: 0, lagMs: [], closed: 0 };
  for (let silent = 0; all.received < expected && silent < 20;) {
    await delay(100);
    const more = await report(watching);
    silent = more.received === 0 ? silent + 1 : 0;
    all.received += more.received;
    all.outOfOrder += more.outOfOrder;
    all.lagMs.push(...more.lagMs);
    all.closed = more.closed;
  }
  return all;
}

const lagOf = ({ lagMs }: Watched) => ({
  'lag p50 ms': round(percentile(lagMs, 0.5)),
  'p99 ms': round(percentile(lagMs, 0.99)),
  'max ms': round(lagMs.reduce((most, lag) => Math.max(most, lag), 0)),
});

/** How late the events of a run are that writes fast, over two replicas. */
async function measureLag(run: HotRun, replicas: Started[]) {
  const watching = await Promise.all(replicas.map(({ ready }) => watch(run, ready, readers)));
  // The first events compile what passes them on.
  const warm = await run.append({ perSecond: eventsPerSecond, seconds: 2 });
  await Promise.all(watching.map((each) => received(each, warm.events * readers)));
  const before = replicas.map((replica) => cpuMsOf(pidOf(replica)));
  const { events, appendMs } = await run.append({ perSecond: eventsPerSecond, seconds });
  const watched = await Promise.all(watching.map((each) => received(each, events * readers)));
  const rows = watched.map((each, at) => ({
    replica: at + 1,
    'events/s': eventsPerSecond,
    watchers: readers,
    ...lagOf(each),
    'not received': events * readers - each.received,
    'out of order': each.outOfOrder,
    'API CPU, % of a core': Math.round((cpuMsOf(pidOf(replicas[at] as Started)) - (before[at] ?? 0)) / (seconds * 10)),
    'append p50, p99 ms': `${round(percentile(appendMs, 0.5))}, ${round(percentile(appendMs, 0.99))}`,
  }));
  await Promise.all(watching.map(({ child }) => stopChild(child)));
  return rows;
}

/** What many sockets of one replica cost, and how late they receive the events of a run that all of them follow. */
async function measureSockets(run: HotRun, replica: Started) {
  const pid = pidOf(replica);
  const emptyMb = residentMb(pid);
  const openedAt = now();
  const watching = await watch(run, replica.ready, sockets);
  const openMs = now() - openedAt;
  const openMb = residentMb(pid);
  const idleBefore = cpuMsOf(pid);
  await delay(2_000);
  const idle = (cpuMsOf(pid) - idleBefore) / 2_000;
  const before = cpuMsOf(pid);
  const { events } = await run.append({ perSecond: hotPerSecond, seconds });
  const watched = await received(watching, events * sockets);
  const used = cpuMsOf(pid) - before;
  const row = {
    server: 'API',
    sockets,
    'opened in s': round(openMs / 1000),
    'KB each': round(((openMb - emptyMb) * 1024) / sockets),
    'idle CPU %': round(idle * 100),
    'events/s': hotPerSecond,
    ...lagOf(watched),
    'CPU µs a message': round((used / Math.max(1, watched.received)) * 1000),
    'not received': events * sockets - watched.received,
    closed: watched.closed,
    'API MB after': residentMb(pid),
  };
  await stopChild(watching.child);
  return row;
}

/** The same number of texts of the same size, to as many sockets of a bare server. */
async function measureBare(run: HotRun) {
  const bare = await startChild('bare-process', {});
  const pid = pidOf(bare);
  const emptyMb = residentMb(pid);
  const openedAt = now();
  const { taskId, attemptId } = run;
  const watching = await startChild('watching-process', {
    ...{ url: bare.ready, sockets, taskId, attemptId, afterSequence: 0 },
  } satisfies Watching);
  const openMs = now() - openedAt;
  const openMb = residentMb(pid);
  const before = cpuMsOf(pid);
  const events = hotPerSecond * seconds;
  for (let sequence = 1; sequence <= events; sequence += 1) {
    bare.child.send(JSON.stringify(sample({ sequence, taskId, attemptId })));
    await delay(1000 / hotPerSecond);
  }
  const watched = await received(watching, events * sockets);
  const row = {
    server: 'bare',
    sockets,
    'opened in s': round(openMs / 1000),
    'KB each': round(((openMb - emptyMb) * 1024) / sockets),
    'events/s': hotPerSecond,
    ...lagOf(watched),
    'CPU µs a message': round(((cpuMsOf(pid) - before) / Math.max(1, watched.received)) * 1000),
    'not received': events * sockets - watched.received,
    closed: watched.closed,
  };
  await stopChild(watching.child);
  await stopChild(bare.child);
  return row;
}

/** A message as large as one of the API. */
const sample = ({ sequence, taskId, attemptId }: { sequence: number; taskId: string; attemptId: string }) => ({
  ...{ type: 'agent:event', taskId, attemptId, sequence },
  data: {
    ...{ schemaVersion: 'run-event/v1', taskId, runId: attemptId, attemptId, sequence, kind: 'progress' },
    source: { provider: 'process', adapter: 'process', agent: 'bench', model: null },
    payload: { message: `step ${sequence} of the work`, percent: 50, at: now() },
    payloadHash: 'x'.repeat(64),
    redaction: { status: 'none', fields: [], originalBytes: 70, persistedBytes: 70 },
    eventId: 'x'.repeat(36),
    receivedAt: new Date().toISOString(),
  },
});

async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-watchers-'));
  const argument = { dataDir, maxWatchers: sockets + 100 };
  const replicas: Started[] = [];
  let run: HotRun | undefined;
  try {
    console.log(`load before: ${loadavg()[0]?.toFixed(1)}`);
    replicas.push(await startChild('api-process', argument), await startChild('api-process', argument));
    const [replica] = replicas as [Started, Started];
    run = await openHotRun(dataDir, await createTask(boardOf({ apiUrl: replica.ready }), { title: 'Hot' }));
    console.log('\nTwo replicas');
    console.table(await measureLag(run, replicas));
    console.log('\nMany sockets on one replica');
    console.table([await measureBare(run), await measureSockets(run, replica)]);
    console.log('\nReaders that read nothing');
    console.table(await measureSlowReaders({ url: replica.ready, pid: pidOf(replica) }, run, slowEvents));
    console.log(`load after: ${loadavg()[0]?.toFixed(1)}`);
  } finally {
    await run?.close();
    await Promise.all(replicas.map(({ child }) => stopChild(child)));
    await rm(dataDir, { recursive: true, force: true });
  }
}

void main();
