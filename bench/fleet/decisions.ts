/**
 * What one decision of admission costs in a fleet, whether the depth of the queue, the number of its hosts, or the number of
 * runs changes it: launches that get capacity, that have to wait, that are dispatched; and the round of one host's heartbeat.
 * Against a store of its own (MongoDB when `MONGODB_URL` names an empty database).
 *
 *     npm run build && node dist/bench/fleet/decisions.js
 *     FLEET_DEPTHS=0,10000 FLEET_HOST_COUNTS=1,100 FLEET_RUN_COUNTS=0,5000 node dist/bench/fleet/decisions.js
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSchedulerActivities } from '../../activities/admission-scheduler/activities';
import { decideCapacity } from '../../activities/agent-run/admission/decide';
import type { AdmissionControl } from '../../activities/agent-run/admission/dependencies';
import { evaluated, globalScope } from '../../domain/admission/capacity';
import type { AdmissionRequest } from '../../domain/admission/request';
import { sampleRequest } from '../../domain/admission/sample-request';
import { createLog } from '../../platform/log/log';
import { identifySelf } from '../../platform/processes/identity';
import { openDatabase } from '../../stores/port/open';
import { createHostStore } from '../../stores/runs/hosts/host-store';
import { reconcileReservations } from '../../worker/heartbeat';
import { inParallel, percentile } from '../latency';
import { openControl } from './control';
import { sizeOf, sizesOf } from './sizes';

const depths = sizesOf('FLEET_DEPTHS', [0, 1_000]);
const hostCounts = sizesOf('FLEET_HOST_COUNTS', [1, 10, 100]);
const runCounts = sizesOf('FLEET_RUN_COUNTS', [0, 1_000]);
const times = sizeOf('FLEET_DECISIONS', 30);
/** Launches of each on every host: a queue has as many lanes as hosts and workspaces multiplied. */
const workspaces = 4;
const leaseMs = 3_600_000;

const log = createLog({ name: 'bench', level: 'error' });
const oneRun = { ...globalScope, policy: 'global.runs', resource: 'runs' as const, limit: 1 };
let attempts = 0;

const hostId = (n: number): string => `host-${n}`;

function aRequest(hosts: number, fields: Partial<AdmissionRequest> = {}): AdmissionRequest {
  attempts += 1;
  return sampleRequest(`attempt_${String(attempts).padStart(12, '0')}`, {
    hostId: hostId(attempts % hosts),
    workspaceId: `w-${Math.floor(attempts / hosts) % workspaces}`,
    requestedAt: new Date().toISOString(),
    ...fields,
  });
}

interface Measured {
  p50: number;
  p99: number;
  cpuMs: number;
}

/** Measures `times` calls, one after the other; `prepare` before each is not counted. */
async function measured(work: () => Promise<unknown>, prepare: () => Promise<unknown> = async () => undefined) {
  const samples: number[] = [];
  let cpuMs = 0;
  for (let n = 0; n < times; n += 1) {
    await prepare();
    const before = process.cpuUsage();
    const startedAt = performance.now();
    await work();
    samples.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(before);
    cpuMs += (user + system) / 1000;
  }
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99), cpuMs: cpuMs / times };
}

const shown = ({ p50, p99, cpuMs }: Measured): string =>
  `${p50.toFixed(1)}, ${p99.toFixed(1)} (CPU ${cpuMs.toFixed(1)})`;

/** The stores of a fleet whose hosts are all live, whatever the time. */
async function withFleet<T>(hosts: number, work: (control: AdmissionControl) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-fleet-decisions-'));
  const database = await openDatabase({ mongoUrl: process.env.MONGODB_URL, dataDir: dir, log });
  try {
    const now = new Date();
    const store = await createHostStore(database, () => now);
    const self = await identifySelf();
    await inParallel(hosts, 8, (n) =>
      store.announceWorker(hostId(n), {
        ...{ hostname: hostId(n), workerId: `${n}`, reservedRuns: 0, queues: [], draining: false, process: self },
        capacity: { runs: 1_000, processes: 1_000, memoryMb: 1_000_000 },
      }),
    );
    return await work(await openControl(database, { maxRuns: 100_000, hosts: store, log }));
  } finally {
    await database.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function fill({ queue, requests }: AdmissionControl, hosts: number, depth: number): Promise<void> {
  // Writes that arrive together share one commit.
  await inParallel(depth - (await queue.depth()), 64, async () => {
    const request = await requests.put(aRequest(hosts));
    const entry = { ...request, enqueuedAt: new Date().toISOString(), limitingKey: globalScope.key };
    await queue.enqueue({ ...entry, limitingPolicies: [evaluated(oneRun)] });
  });
}

/** Has the decision made as the activity does. */
async function decide(control: AdmissionControl, hosts: number): Promise<{ id: string; decision: string }> {
  const request = await control.requests.put(aRequest(hosts));
  return { id: request.attemptId, decision: (await decideCapacity(control, request)).decision };
}

async function byDepth(hosts: number): Promise<Record<string, Record<string, string>>> {
  return withFleet(hosts, async (control) => {
    const rows: Record<string, Record<string, string>> = {};
    const { queue, reservations, settings } = control;
    // What waits is not in the way of a launch that has capacity.
    const roomy = { ...control, queue: { ...queue, waitedFor: async () => undefined } };
    const scheduler = createSchedulerActivities({
      ...control,
      inWorkspace: async () => ({
        ...control,
        attempts: { get: async () => undefined },
        signalCapacity: async () => true,
        requestStop: async () => true,
      }),
      log,
      now: () => new Date(),
    });
    const release = (id: string) =>
      reservations.release(id, { reason: 'completed', evidence: 'bench', now: new Date() });
    for (const [index, depth] of [depths[0] ?? 0, ...depths].entries()) {
      await settings.patch({ admission: { limits: { global: { runs: null } } } });
      await fill(control, hosts, depth);
      const admit = await measured(async () => release((await decide(roomy, hosts)).id));

      await settings.patch({ admission: { limits: { global: { runs: 1 } } } });
      let holder = (await decide(roomy, hosts)).id;
      const queued: string[] = [];
      const enqueue = await measured(async () => queued.push((await decide(control, hosts)).id));
      for (const id of queued) {
        await queue.end(id, { code: 'BENCH', reason: 'bench', at: new Date().toISOString() });
      }
      const dispatch = await measured(
        async () => {
          await release(holder);
          await scheduler.dispatchQueued();
        },
        async () => {
          const [current] = await reservations.holders();
          if (current !== holder && current !== undefined) {
            await queue.dispatched(current, new Date().toISOString());
            holder = current;
          }
          await fill(control, hosts, Math.max(depth, 1));
        },
      );
      for (const id of await reservations.holders()) {
        await queue.dispatched(id, new Date().toISOString());
        await release(id);
      }
      // The first round is for the just-in-time compiler.
      if (index > 0) {
        rows[`${hosts} hosts, ${depth} queued`] = {
          'admit and release': shown(admit),
          enqueue: shown(enqueue),
          'release and dispatch': shown(dispatch),
        };
      }
    }
    return rows;
  });
}

/** What runs that hold capacity cost every decision, and the round of each host's heartbeat. */
async function byRuns(): Promise<Record<string, Record<string, string>>> {
  const hosts = Math.max(...hostCounts);
  return withFleet(hosts, async (control) => {
    const { reservations } = control;
    const rows: Record<string, Record<string, string>> = {};
    let held = 0;
    for (const [index, runs] of [runCounts[0] ?? 0, ...runCounts].entries()) {
      for (; held < runs; held += 1) {
        const { id, decision } = await decide(control, hosts);
        if (decision !== 'held') {
          throw new Error(`${id} is ${decision}.`);
        }
      }
      const admit = await measured(async () => {
        const { id } = await decide(control, hosts);
        await reservations.release(id, { reason: 'completed', evidence: 'bench', now: new Date() });
      });
      // As if every host had renewed what it has, a while after it was reserved.
      const later = new Date(Date.now() + 120_000);
      for (let n = 0; n < hosts; n += 1) {
        await reservations.renewHost(hostId(n), later, leaseMs);
      }
      const beat = await measured(async () => {
        await reservations.runsOn(hostId(0));
        await reservations.renewHost(hostId(0), later, leaseMs);
        const unhosted = await reservations.renewUnhosted(later, leaseMs, new Date(later.getTime() - 5_000));
        await reservations.expire(new Date());
        await reservations.repairInTurn(new Date(), 5_000);
        await reconcileReservations(
          { hostId: hostId(0), admission: control, attempts: { get: async () => ({ state: 'running' }) } },
          later,
          { unhosted },
        );
      });
      if (index > 0) {
        rows[`${runs} runs on ${hosts} hosts`] = {
          'admit and release': shown(admit),
          'heartbeat of one host': shown(beat),
        };
      }
    }
    return rows;
  });
}

async function main(): Promise<void> {
  console.log(`p50, p99 in ms (CPU ms each); load ${loadavg()[0]?.toFixed(1)}`);
  let rows = {};
  for (const hosts of hostCounts) {
    rows = { ...rows, ...(await byDepth(hosts)) };
  }
  console.table(rows);
  console.table(await byRuns());
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
}

void main();
