/**
 * What admission costs, and whether the depth of the queue changes it. First the decision alone, against a store of its
 * own (MongoDB when `MONGODB_URL` is set): a launch that gets its capacity and releases it, one that has to wait, and a
 * scan of the scheduler that has one launch to dispatch. Then launches over HTTP through everything, by one to four worker
 * processes, with the time between one run releasing its capacity and the next one having it. The floor of a decision is a
 * compare-and-set of one small document by the driver alone, and a synced write of a file, in the same run.
 *
 *     npm run build && node dist/bench/admission.js [decisions|launches]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSchedulerActivities } from '../activities/admission-scheduler/activities';
import { decideCapacity } from '../activities/agent-run/admission/decide';
import type { AdmissionControl } from '../activities/agent-run/admission/dependencies';
import type { BoardClient } from '../clients/typescript/src';
import { type CapacityPolicy, evaluated, globalScope, hostKey } from '../domain/admission/capacity';
import type { AdmissionRequest } from '../domain/admission/request';
import { sampleRequest } from '../domain/admission/sample-request';
import { createLog } from '../platform/log/log';
import type { Database } from '../stores/port/collection';
import { openDatabase } from '../stores/port/open';
import { openControl as openFleetControl } from './fleet/control';
import { startFleet } from './fleet/start';
import { bareFile, replaceBare } from './floor/files';
import { bareStore } from './floor/stores';
import { inParallel, percentile } from './latency';
import { boardOf, configureAgents, createTask, type Run, startRun, stopRun } from './service';

/** How many launches wait; fewer for a quick look. */
const depths = (process.env.BENCH_DEPTHS ?? '0,1000,10000').split(',').map(Number);
const workers = [1, 2, 4];
const decisions = 400;
const looks = 40;
const launches = 200;
const handovers = 40;

const log = createLog({ name: 'bench', level: 'error' });
const round = (value: number): number => Math.round(value * 10) / 10;
type Row = Record<string, string | number>;

const row = (
  what: string,
  {
    depth,
    samples,
    spent = {},
  }: {
    depth: number | string;
    samples: number[];
    /** The time it all took, and, where this process did all the work, its processor's. */
    spent?: Partial<Spent>;
  },
): Row => ({
  what,
  'queued or workers': depth,
  'p50 ms': round(percentile(samples, 0.5)),
  'p99 ms': round(percentile(samples, 0.99)),
  'per s': spent.elapsedMs === undefined ? '' : round((samples.length / spent.elapsedMs) * 1000),
  'cpu ms each': spent.cpuMs === undefined ? '' : round(spent.cpuMs / samples.length),
});

interface Spent {
  elapsedMs: number;
  cpuMs: number;
}

async function spent(work: () => Promise<unknown>): Promise<Spent> {
  const before = process.cpuUsage();
  const elapsedMs = await timed(work);
  const { user, system } = process.cpuUsage(before);
  return { elapsedMs, cpuMs: (user + system) / 1000 };
}

let attempts = 0;

/** A launch of its own tree and task. */
function aRequest(hostId: string | null): AdmissionRequest {
  attempts += 1;
  const fields = { provider: 'remote-callback' as const, hostId, requestedAt: new Date().toISOString() };
  return sampleRequest(`attempt_${String(attempts).padStart(12, '0')}`, fields);
}

const globalRuns: CapacityPolicy = { ...globalScope, policy: 'global.runs', resource: 'runs', limit: 1 };
const awayKey = hostKey('away');
const awayHost: CapacityPolicy = {
  policy: 'host.runs',
  scope: 'host',
  scopeId: awayKey,
  resource: 'runs',
  limit: 0,
  key: awayKey,
};

/** Fills the queue with launches of another workspace: on a host that is away, or on none and without capacity. */
async function fill({ queue, requests }: AdmissionControl, depth: number, hostId: string | null): Promise<void> {
  await inParallel(depth - (await queue.depth()), 8, async () => {
    const request = await requests.put({ ...aRequest(hostId), workspaceId: 'other' });
    const enqueuedAt = new Date().toISOString();
    const limiting = hostId === null ? globalRuns : awayHost;
    await queue.enqueue({ ...request, enqueuedAt, limitingKey: limiting.key, limitingPolicies: [evaluated(limiting)] });
  });
}

const openControl = (database: Database, maxRuns: number): Promise<AdmissionControl> =>
  openFleetControl(database, {
    maxRuns,
    hosts: {
      capacityOf: async (id) => ({ takesWork: id !== 'away', runs: undefined }),
      capacities: async () => new Map(),
    },
    log,
  });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** Admits, as the activity does: writes the request down, decides. */
async function decide(control: AdmissionControl): Promise<{ id: string; decision: string }> {
  const request = await control.requests.put(aRequest(null));
  const { decision } = await decideCapacity(control, request);
  return { id: request.attemptId, decision };
}

async function measureDecisions(database: Database): Promise<Row[]> {
  const rows: Row[] = [];
  const { queue, ...others } = await openControl(database, 1_000_000);
  // What waits for the ceiling of the measured queue is not in the way of a launch that has capacity.
  const waitedFor = (keys: string[]) => queue.waitedFor(keys.filter((key) => key !== globalScope.key));
  const roomy = { ...others, queue: { ...queue, waitedFor } };
  const full = await openControl(database, 1);
  const scheduler = createSchedulerActivities({
    ...full,
    inWorkspace: async () => ({
      ...full,
      attempts: { get: async () => undefined },
      signalCapacity: async () => true,
      requestStop: async () => true,
    }),
    log,
    now: () => new Date(),
  });
  const release = (id: string) =>
    full.reservations.release(id, { reason: 'completed', evidence: 'bench', now: new Date() });
  for (const [index, depth] of [0, ...depths].entries()) {
    // The first round is for the just-in-time compiler.
    const measured = index > 0;
    await fill(full, depth, null);
    const held: number[] = [];
    const holding = await spent(() =>
      inParallel(decisions, 8, async () => {
        held.push(await timed(async () => release((await decide(roomy)).id)));
      }),
    );
    if (measured) {
      rows.push(row('admit and release', { depth, samples: held, spent: holding }));
    }

    let holder = (await decide(roomy)).id;
    const queued: number[] = [];
    const ids: string[] = [];
    const queueing = await spent(() =>
      inParallel(decisions, 8, async () => {
        queued.push(await timed(async () => ids.push((await decide(full)).id)));
      }),
    );
    if (measured) {
      rows.push(row('enqueue', { depth, samples: queued, spent: queueing }));
    }
    for (const id of ids) {
      await full.queue.end(id, { code: 'BENCH', reason: 'bench', at: new Date().toISOString() });
    }

    const seen: number[] = [];
    let cpuMs = 0;
    for (let n = 0; n < looks; n += 1) {
      const { id, decision } = await decide(full);
      if (decision !== 'queued') {
        throw new Error(`${id} did not have to wait: ${decision}.`);
      }
      const dispatching = await spent(async () => {
        await release(holder);
        await scheduler.dispatchQueued();
      });
      seen.push(dispatching.elapsedMs);
      cpuMs += dispatching.cpuMs;
      const [next, ...more] = await full.reservations.holders();
      if (next === undefined || next === holder || more.length > 0) {
        throw new Error('Not one was dispatched.');
      }
      await full.queue.dispatched(next, new Date().toISOString());
      holder = next;
    }
    await release(holder);
    if (measured) {
      rows.push(row('release and dispatch', { depth, samples: seen, spent: { cpuMs } }));
    }
  }
  return rows;
}

/** A service with `workers` worker processes, and an agent that works elsewhere. */
async function openFleet(dir: string, workers: number, maxRuns: number) {
  const { service, close } = await startFleet(dir, { workers, maxRuns });
  const board = boardOf(service);
  await configureAgents(board, [{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
  return { board, close };
}

const aTask = (board: BoardClient): Promise<string> => createTask(board, { title: 'Bench', agent: 'elsewhere' });

async function measureLaunches(count: number): Promise<Row> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-admission-'));
  const { board, close } = await openFleet(dir, count, 10_000);
  try {
    const tasks = await Promise.all(Array.from({ length: launches }, () => aTask(board)));
    // Each worker compiles what runs a workflow when it is given its first one.
    await inParallel(20 * count, 20, async () => {
      await startRun(board, await aTask(board));
    });
    const samples: number[] = [];
    const elapsedMs = await timed(() =>
      inParallel(launches, 20, async (n) => {
        samples.push(await timed(() => startRun(board, tasks[n] ?? '')));
      }),
    );
    return row('launches over HTTP', { depth: `${count} workers`, samples, spent: { elapsedMs } });
  } finally {
    await close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** From one run releasing its capacity to the next one having it, by the reservations. */
async function measureHandover(depth: number): Promise<Row> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-admission-'));
  const { board, close } = await openFleet(dir, 1, 1);
  try {
    const database = await openDatabase({ mongoUrl: process.env.MONGODB_URL, dataDir: dir, log });
    try {
      const control = await openControl(database, 1);
      await fill(control, depth, 'away');
      const line: Run[] = [];
      for (let n = 0; n <= handovers; n += 1) {
        line.push(await startRun(board, await aTask(board)));
      }
      const samples: number[] = [];
      for (const [index, run] of line.slice(0, -1).entries()) {
        await stopRun(board, run);
        const next = line[index + 1]?.attemptId ?? '';
        while ((await control.queue.get(next))?.state !== 'dispatched') {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        const [before, after] = await Promise.all([
          control.reservations.get(run.attemptId),
          control.reservations.get(next),
        ]);
        samples.push(Date.parse(after?.createdAt ?? '') - Date.parse(before?.release?.releasedAt ?? ''));
      }
      return row('release to reservation', { depth, samples });
    } finally {
      await database.close();
    }
  } finally {
    await close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** A compare-and-set of a small document by the driver alone, and a file that is written and synced, as often as a decision. */
async function measureFloor(dir: string): Promise<Row[]> {
  const bare = await bareStore(process.env.MONGODB_URL, join(dir, 'bare.sqlite'));
  const rows: Row[] = [];
  await bare.insert({ _id: 'ledger', revision: 1, held: 0 });
  const set: number[] = [];
  const setting = await spent(async () => {
    for (let n = 1; n <= decisions; n += 1) {
      set.push(await timed(() => bare.compareAndSet('ledger', n, { held: n })));
    }
  });
  rows.push(row('bare compare-and-set', { depth: '', samples: set, spent: setting }));
  await bare.close();
  const synced: number[] = [];
  const syncing = await spent(async () => {
    for (let n = 0; n < decisions; n += 1) {
      synced.push(await timed(() => replaceBare(bareFile(dir, 0), `held ${n}`)));
    }
  });
  rows.push(row('bare file, synced', { depth: '', samples: synced, spent: syncing }));
  return rows;
}

async function decisionsAlone(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-admission-'));
  const database = await openDatabase({ mongoUrl: process.env.MONGODB_URL, dataDir: dir, log });
  try {
    console.table([...(await measureFloor(dir)), ...(await measureDecisions(database))]);
  } finally {
    await database.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function throughEverything(): Promise<void> {
  const rows: Row[] = [];
  for (const count of workers) {
    rows.push(await measureLaunches(count));
  }
  for (const depth of depths) {
    rows.push(await measureHandover(depth));
  }
  console.table(rows);
}

async function main(): Promise<void> {
  const [which] = process.argv.slice(2);
  if (which !== 'launches') {
    await decisionsAlone();
  }
  if (which !== 'decisions') {
    await throughEverything();
  }
}

void main();
