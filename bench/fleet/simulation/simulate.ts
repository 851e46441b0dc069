import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { globalScope } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { findTemporalBinary } from '../../../platform/temporal/embedded/binary';
import { type DevServer, startDevServer } from '../../../platform/temporal/embedded/dev-server';
import { ensureSearchAttributes } from '../../../platform/temporal/ensure-search-attributes';
import { databaseName } from '../../../stores/port/database-name';
import { launchOptions } from '../../../workflows/agent-run/launch-options';
import { type AgentRunInput, launchUpdate, launchUpdateId } from '../../../workflows/agent-run/messages';
import { inParallel, percentile } from '../../latency';
import { databaseBytes, residentMb } from '../processes';
import { type Dispatched, fairness, latencies, mishaps, utilisation } from './figures';
import type { HostPlan } from './host-process';
import { cause, outageRow } from './outage';
import { heartbeatTimeoutMs, log, openParts, type Parts, type Plan, startPart, stopPart } from './parts';
import { openWitness } from './witness';

export interface Sizes {
  hosts: number;
  slots: number;
  runs: number;
  trees: number;
  /** The first one has half of all runs, the others share the rest. */
  workspaces: number;
  /** Hosts that are lost at once, when a third of the runs has ended. */
  lost: number;
  agentMs: number;
  /** For how long they are away. */
  awayMs: number;
  /** How long what a silent host has reserved is left to it. */
  leaseMs: number;
}

/** How many launches are requested at a time. */
const callers = 20;
/** After so long without any progress the simulation is given up, in milliseconds. */
const patienceMs = 180_000;
const progressMs = 250;
const oneRun = { ...globalScope, policy: 'global.runs', resource: 'runs' as const, limit: 1 };

type Table = Record<string, Record<string, number | string>>;

const startPartOf = (name: 'board' | 'host', plan: object) => startPart(join(__dirname, `${name}-process.js`), plan);

/** Simulates a fleet and returns what was measured, as tables with their titles. */
export async function simulate(sizes: Sizes): Promise<Map<string, Table>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-fleet-'));
  const server = await startDevServer({
    binary: await findTemporalBinary({ report: () => undefined }),
    dbFile: join(dataDir, 'temporal', 'temporal.db'),
    namespace: 'default',
    log,
  });
  try {
    const { slots, agentMs } = sizes;
    const mongoUrl = process.env.MONGODB_URL;
    return await withFleet(sizes, { dataDir, mongoUrl, temporalAddress: server.address, slots, agentMs }, server);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function withFleet(sizes: Sizes, plan: Plan, server: DevServer): Promise<Map<string, Table>> {
  const parts = await openParts(plan);
  const children = new Map<string, Awaited<ReturnType<typeof startPart>>>();
  const hostIds = Array.from({ length: sizes.hosts }, (_, n) => `host-${String(n).padStart(4, '0')}`);
  const lostIds = hostIds.slice(0, sizes.lost);
  const hostPlan = (ids: string[]): HostPlan => ({ ...plan, hostIds: ids });
  try {
    const { leaseMs } = sizes;
    await parts.control.settings.patch({
      admission: { leaseMs, heartbeatMs: Math.ceil(leaseMs / 3), fanOutBreaker: { enabled: false } },
    });
    await ensureSearchAttributes(parts.client.connection, 'default', { log });
    children.set('board', await startPartOf('board', plan));
    children.set('hosts', await startPartOf('host', hostPlan(hostIds.slice(sizes.lost))));
    children.set('hosts that are lost', await startPartOf('host', hostPlan(lostIds)));
    return await measure({ sizes, plan, parts, server, children, lostIds, restart });
  } finally {
    await Promise.all([...children.values()].map(stopPart));
    await parts.close();
  }

  async function restart(): Promise<void> {
    children.set('hosts that are lost', await startPartOf('host', hostPlan(lostIds)));
  }
}

interface Fleet {
  sizes: Sizes;
  plan: Plan;
  parts: Parts;
  server: DevServer;
  children: Map<string, Awaited<ReturnType<typeof startPart>>>;
  lostIds: string[];
  restart: () => Promise<void>;
}

async function measure({ sizes, plan, parts, server, children, lostIds, restart }: Fleet): Promise<Map<string, Table>> {
  const { control } = parts;
  const witness = openWitness(plan.dataDir);
  const memory: Table = {};
  const bytes: Table = {};
  const sample = (when: string) => {
    const pids = [
      ['temporal', server.pid] as const,
      ...[...children].map(([name, { pid }]) => [name, pid ?? 0] as const),
    ];
    memory[when] = Object.fromEntries(pids.map(([name, pid]) => [name, residentMb(pid)]));
    bytes[when] = {
      'stores, MB': round(databaseBytes(join(plan.dataDir, databaseName)) / 1e6),
      'temporal, MB': round(databaseBytes(join(plan.dataDir, 'temporal', 'temporal.db')) / 1e6),
    };
  };

  // While one run has all of the capacity, every launch is queued.
  const plug = sampleRequest('attempt_plug');
  await control.settings.patch({ admission: { limits: { global: { runs: 1 } } } });
  await control.reservations.reserve(plug, [oneRun], { now: new Date(), leaseMs: sizes.leaseMs });
  sample('empty');
  const { taskIds, launched } = await launchAll(parts, sizes);
  sample('all queued');

  await control.settings.patch({ admission: { limits: { global: { runs: null } } } });
  await control.reservations.release(plug.attemptId, { reason: 'completed', evidence: 'bench', now: new Date() });
  const openedAt = Date.now();
  await control.wakeScheduler();
  // The activity that records an end is repeated when its own end is late: tasks are counted, and not its calls.
  const recorded = () =>
    new Set(witness.moments().flatMap(({ what, taskId }) => (what === 'recorded' ? [taskId] : []))).size;
  await untilProgressed(recorded, Math.ceil(sizes.runs / 3));
  const hosts = children.get('hosts that are lost');
  const outage =
    hosts && sizes.lost > 0
      ? await cause({ hosts, hostIds: new Set(lostIds), awayMs: sizes.awayMs, control, witness, restart })
      : undefined;
  await untilProgressed(recorded, sizes.runs);
  const drainedMs = Date.now() - openedAt;
  sample('all ended');

  const moments = witness.moments();
  const isLost = new Set(lostIds);
  const stable = moments.filter(({ hostId }) => !isLost.has(hostId ?? ''));
  const dispatched = await dispatchedOf(control, moments);
  const { index, shares } = fairness(dispatched);
  const mishap = mishaps(taskIds, moments);
  const perRun = (part: string) => Number(bytes['all ended']?.[part]) - Number(bytes.empty?.[part]);
  bytes['a run'] = {
    'stores, MB': round((perRun('stores, MB') / sizes.runs) * 1e3) / 1e3,
    'temporal, MB': round((perRun('temporal, MB') / sizes.runs) * 1e3) / 1e3,
  };
  return new Map<string, Table>([
    ['Launches that are queued', { all: launched }],
    [
      'Waiting, ms; hosts that were not lost',
      Object.fromEntries(
        Object.entries(
          latencies(
            dispatched.filter(({ hostId }) => !isLost.has(hostId ?? '')),
            stable,
            sizes.slots,
          ),
        ).map(([name, percentiles]) => [name, { ...percentiles }]),
      ),
    ],
    [
      'The fleet',
      {
        all: {
          'runs/s': round((sizes.runs / drainedMs) * 1000),
          'utilisation, %': Math.round(utilisation(stable, sizes.slots, openedAt) * 100),
          'Jain index of workspaces': Math.round(index * 1000) / 1000,
          'their shares of contested turns': shares.map(([, share]) => share.toFixed(2)).join(' '),
        },
      },
    ],
    [`${sizes.lost} of ${sizes.hosts} hosts lost at once`, { all: outage ? outageRow(outage, moments) : {} }],
    ['What must not happen', { all: mishap }],
    ['Resident memory, MB', memory],
    ['Store growth', bytes],
  ]);
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Launches every run as the API does: first the roots of all trees, then what descends from them. */
async function launchAll({ client }: Parts, { runs, trees, workspaces }: Sizes) {
  const newInput = (n: number, fields: Partial<AgentRunInput>): AgentRunInput => ({
    attemptId: `attempt_${randomUUID().replaceAll('-', '').slice(0, 12)}`,
    taskId: `task_${n}`,
    request: {},
    actor: 'bench',
    maxRetries: 3,
    timings: { runTimeoutMs: 600_000, heartbeatTimeoutMs, retryBackoffMs: 0 },
    ...fields,
  });
  const workspaceOf = (tree: number): string =>
    tree % 2 === 0 || workspaces === 1 ? 'w-0' : `w-${1 + (Math.floor(tree / 2) % (workspaces - 1))}`;
  const roots = Array.from({ length: Math.min(trees, runs) }, (_, n) => newInput(n, { workspaceId: workspaceOf(n) }));
  const children = Array.from({ length: runs - roots.length }, (_, at) => {
    const tree = at % roots.length;
    const origin = { source: 'child-agent', edge: 'child-agent', parentAttemptId: roots[tree]?.attemptId } as const;
    return newInput(roots.length + at, { workspaceId: workspaceOf(tree), origin });
  });
  const samples: number[] = [];
  const launch = async (input: AgentRunInput | undefined): Promise<void> => {
    if (!input) {
      return;
    }
    const startedAt = performance.now();
    const outcome = await client.workflow.executeUpdateWithStart(launchUpdate, {
      updateId: launchUpdateId,
      startWorkflowOperation: new WithStartWorkflowOperation('agentRun', launchOptions(input, 'simulated run')),
    });
    samples.push(performance.now() - startedAt);
    if (outcome.status !== 'queued') {
      throw new Error(`A launch was not queued: ${JSON.stringify(outcome)}`);
    }
  };
  const startedAt = performance.now();
  await inParallel(roots.length, callers, (n) => launch(roots[n]));
  await inParallel(children.length, callers, (n) => launch(children[n]));
  const launched = {
    launches: samples.length,
    'p50 ms': Math.round(percentile(samples, 0.5)),
    'p99 ms': Math.round(percentile(samples, 0.99)),
    'per s': round((samples.length / (performance.now() - startedAt)) * 1000),
  };
  return { taskIds: [...roots, ...children].map(({ taskId }) => taskId), launched };
}

/** Waits until so many are done. @throws Error when nothing happens any more */
async function untilProgressed(done: () => number, wanted: number): Promise<void> {
  let last = { done: -1, at: performance.now() };
  for (;;) {
    const now = done();
    if (now >= wanted) {
      return;
    }
    if (now > last.done) {
      last = { done: now, at: performance.now() };
    }
    if (performance.now() - last.at > patienceMs) {
      throw new Error(`${now} of ${wanted} runs have ended, and no more do.`);
    }
    await delay(progressMs);
  }
}

/** What the stores have of the launches that were queued and started. */
async function dispatchedOf(
  { queue, reservations }: Parts['control'],
  moments: ReturnType<ReturnType<typeof openWitness>['moments']>,
): Promise<Dispatched[]> {
  const ids = [...new Set(moments.map(({ attemptId }) => attemptId))];
  const found: Dispatched[] = [];
  for (const attemptId of ids) {
    const [entry, reservation] = await Promise.all([queue.get(attemptId), reservations.get(attemptId)]);
    if (entry?.state === 'dispatched' && reservation) {
      found.push({
        attemptId,
        workspaceId: entry.workspaceId,
        hostId: entry.hostId,
        enqueuedAt: Date.parse(entry.enqueuedAt),
        reservedAt: Date.parse(reservation.createdAt),
        dispatchedAt: Date.parse(entry.endedAt ?? ''),
      });
    }
  }
  return found;
}
