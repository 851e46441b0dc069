/**
 * What a caller waits for: a preview, the `running` of a start, the end of a run that is stopped, the response of a steer.
 * All but the stop beside bare activities and workflows with as many round trips on the same Temporal server, in blocks
 * that take turns, so that both meet the same machine. One caller, tasks with a worktree.
 *
 *     npm run build && node dist/bench/control.js [rounds] [preview|start|steer ...]
 *
 * With `PROFILE=1` the preview is taken apart: what of it is spent where, and how much CPU the API uses for it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { type BoardClient, unwrap } from '../clients/typescript/src';
import { createRepository } from '../scripts/demo/sample';
import { type RunningService, startAll } from '../scripts/start-all';
import type { FloorActivities } from './floor/activities';
import { floorConversation, launched, over, reported } from './floor/workflow';
import { percentile } from './latency';
import {
  addRepository,
  boardOf,
  configureAgents,
  createTask,
  openService,
  type Run,
  startRun,
  stopRun,
} from './service';

const [, , runs = '100', ...chosen] = process.argv;
const rounds = Number(runs);
/** Before anything is measured: compilers, caches, probes. */
const warmUps = 50;
/** How many of one kind are measured before those of the other. */
const block = 50;
const restMs = 1_000;

type Samples = Record<'floor' | 'ours', number[]> & {
  /** How long it took to end each run of which the start was measured. */
  stops?: number[];
};

const round = (value: number): number => Math.round(value * 10) / 10;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/**
 * Both, in alternating blocks with a rest between them: a server works on after its response, and that is not to
 * count for the other. `after` is done between the rounds and is not measured.
 */
async function compare(
  floor: (n: number) => Promise<unknown>,
  ours: (n: number) => Promise<unknown>,
  after: (n: number) => Promise<unknown> = async () => undefined,
): Promise<Samples> {
  const samples: Samples = { floor: [], ours: [] };
  for (let from = 0; from < warmUps + rounds; from += block) {
    const numbers = Array.from({ length: Math.min(block, warmUps + rounds - from) }, (_, index) => from + index);
    await delay(restMs);
    for (const n of numbers) {
      samples.floor.push(await timed(() => floor(n)));
    }
    await delay(restMs);
    for (const n of numbers) {
      samples.ours.push(await timed(() => ours(n)));
      await after(n);
    }
  }
  return { floor: samples.floor.slice(warmUps), ours: samples.ours.slice(warmUps) };
}

const figures = (samples: number[], prefix = '') => ({
  [`${prefix}p50 ms`]: round(percentile(samples, 0.5)),
  [`${prefix}p99 ms`]: round(percentile(samples, 0.99)),
});

const rowsOf = (what: string, { floor, ours, stops }: Samples) => [
  { what, ...figures(floor, 'bare '), ...figures(ours) },
  ...(stops ? [{ what: 'stop', ...figures(stops) }] : []),
];

/** A task whose worktree is there. */
async function aTask(board: BoardClient, agent: string): Promise<string> {
  const taskId = await createTask(board, { title: 'Measured', description: 'Do it.', git: { repo: 'sample' } });
  await unwrap(board.POST('/api/tasks/{taskId}/worktree', { params: { path: { taskId } }, body: {} }));
  await stopRun(board, await startRun(board, taskId, { agent }));
  return taskId;
}

const previewLaunch = (board: BoardClient, taskId: string) =>
  unwrap(board.POST('/api/agents/{taskId}/launch-preview', { params: { path: { taskId } }, body: {} }));

async function preview(board: BoardClient, client: Client, taskId: string) {
  const bare = (n: number) => {
    const options = { id: `preview/${n}`, taskQueue: 'floor', args: ['preview'] as [string] };
    return client.activity.typed<FloorActivities>().execute('step', { ...options, startToCloseTimeout: '1 minute' });
  };
  return compare(bare, () => previewLaunch(board, taskId));
}

async function start(board: BoardClient, client: Client, taskId: string) {
  let run: Run = { taskId, attemptId: '' };
  const stops: number[] = [];
  const samples = await compare(
    (n) =>
      client.workflow.executeUpdateWithStart(launched, {
        startWorkflowOperation: new WithStartWorkflowOperation('floor', {
          workflowId: `start/${n}`,
          taskQueue: 'floor',
          workflowIdConflictPolicy: 'FAIL',
        }),
      }),
    async () => {
      run = await startRun(board, taskId);
    },
    async () => void stops.push(await timed(() => stopRun(board, run))),
  );
  return { ...samples, stops: stops.slice(warmUps) };
}

async function steer(board: BoardClient, client: Client, taskId: string) {
  const run = await startRun(board, taskId);
  const floor = await client.workflow.start(floorConversation, { workflowId: 'conversation', taskQueue: 'floor' });
  const samples = await compare(
    () => floor.executeUpdate(reported),
    async (n) => {
      const body = { attemptId: run.attemptId, message: `step ${n}` };
      const params = { path: { taskId } };
      const { delivered } = await unwrap(board.POST('/api/agents/{taskId}/conversation/steer', { params, body }));
      if (!delivered) {
        throw new Error('not delivered');
      }
    },
  );
  await floor.signal(over);
  await stopRun(board, run);
  return samples;
}

/** The CPU time of a process until now, in milliseconds. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // In ticks of ten milliseconds: the times spent in the process itself, and for it in the kernel.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** What one preview costs each part, in milliseconds of CPU. */
async function profile(service: RunningService, taskId: string): Promise<Record<string, number>> {
  const pids = Object.entries(service.pids());
  const cpu = () => pids.map(([, pid]) => cpuMs(pid));
  const before = cpu();
  const elapsed = await timed(async () => {
    for (let n = 0; n < rounds; n += 1) {
      await previewLaunch(boardOf(service), taskId);
    }
  });
  const used = cpu().map((after, index) => round((after - (before[index] ?? 0)) / rounds));
  const parts = pids.map(([part], index): [string, number] => [`${part} CPU ms`, used[index] ?? 0]);
  return { 'preview mean ms': round(elapsed / rounds), ...Object.fromEntries(parts) };
}

async function startFloor(address: string): Promise<ChildProcess> {
  const worker = fork(join(__dirname, 'floor', 'worker.js'), { env: { ...process.env, TEMPORAL_ADDRESS: address } });
  await new Promise((resolve) => worker.once('message', resolve));
  return worker;
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'runboard-bench-'));
  const environment = openService;
  const ports = { api: 0 };
  const service = await startAll({ environment, dataDir: join(directory, 'data'), ports, quiet: true });
  const worker = await startFloor(service.temporalAddress);
  const connection = await Connection.connect({ address: service.temporalAddress });
  const client = new Client({ connection });
  try {
    const repository = join(directory, 'sample');
    await createRepository(repository);
    const board = boardOf(service);
    await addRepository(board, { name: 'sample', path: repository });
    const agent = { type: 'listens', name: 'Listens', provider: 'process' as const, command: 'sh' };
    await configureAgents(board, [{ ...agent, args: ['-c', 'cat > /dev/null'] }]);
    const taskId = await aTask(board, agent.type);
    const rows = [];
    for (const [what, measure] of Object.entries({ preview, start, steer })) {
      if (chosen.length === 0 || chosen.includes(what)) {
        rows.push(...rowsOf(what, await measure(board, client, taskId)));
      }
    }
    console.table(rows);
    if (process.env.PROFILE) {
      console.table([await profile(service, taskId)]);
    }
  } finally {
    await connection.close();
    worker.disconnect();
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

void main();
