/**
 * What a run costs: from the request to `running`, from the request to the result on the task, and runs per second, at 1,
 * 10 and 50 callers at once, beside a bare workflow with as many activities on the same Temporal server. The agent does
 * nothing (`true`), the worktrees exist: what is measured is Runboard.
 *
 *     npm run build && node dist/bench/runs.js
 */
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import WebSocket from 'ws';
import { BoardError } from '../clients/typescript/src';
import { createRepository } from '../scripts/demo/sample';
import { type RunningService, startAll } from '../scripts/start-all';
import { launched } from './floor/workflow';
import { inParallel, percentile } from './latency';
import { addRepository, boardOf, configureAgents, createTask, openService, startRun } from './service';

/** Runs for each number of callers. */
const loads = [
  { callers: 1, runs: 20 },
  { callers: 10, runs: 100 },
  { callers: 50, runs: 200 },
];

interface Sample {
  runningMs: number;
  doneMs: number;
}

type Row = Record<string, string | number>;

const round = (value: number): number => Math.round(value * 10) / 10;

function row(
  name: string,
  { callers, samples, elapsedMs }: { callers: number; samples: Sample[]; elapsedMs: number },
): Row {
  const running = samples.map(({ runningMs }) => runningMs);
  const done = samples.map(({ doneMs }) => doneMs);
  return {
    what: name,
    callers,
    'running p50': round(percentile(running, 0.5)),
    'running p99': round(percentile(running, 0.99)),
    'done p50': round(percentile(done, 0.5)),
    'done p99': round(percentile(done, 0.99)),
    'runs/s': round((samples.length / elapsedMs) * 1000),
  };
}

/** Times `times` calls of `one`, `callers` at a time. */
async function load(
  name: string,
  { callers, times }: { callers: number; times: number },
  one: (n: number) => Promise<Sample>,
): Promise<Row> {
  const samples: Sample[] = [];
  const startedAt = performance.now();
  await inParallel(times, callers, async (n) => {
    samples.push(await one(n));
  });
  return row(name, { callers, samples, elapsedMs: performance.now() - startedAt });
}

/** Detects ends by the task that shows them. */
class Ends {
  private readonly waiting = new Map<string, () => void>();
  private readonly ended = new Set<string>();

  constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      const { type, task } = JSON.parse(data.toString('utf8')) as {
        type: string;
        task?: { attempt?: { id: string; result?: string } };
      };
      if (type !== 'task:updated' || !task?.attempt?.result) {
        return;
      }
      this.ended.add(task.attempt.id);
      this.waiting.get(task.attempt.id)?.();
    });
  }

  static async open(apiUrl: string): Promise<Ends> {
    const socket = new WebSocket(`${apiUrl.replace('http', 'ws')}/ws`);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ type: 'subscribe:tasks' }));
    return new Ends(socket);
  }

  async of(attemptId: string): Promise<void> {
    if (!this.ended.has(attemptId)) {
      await new Promise<void>((resolve) => this.waiting.set(attemptId, resolve));
    }
  }

  close(): void {
    this.socket.terminate();
  }
}

async function measureRuns(service: RunningService, directory: string): Promise<Row[]> {
  const repository = join(directory, 'sample');
  await createRepository(repository);
  const board = boardOf(service);
  await addRepository(board, { name: 'sample', path: repository });
  await configureAgents(board, [{ type: 'noop', name: 'No-op', provider: 'process', command: 'true' }]);
  const ends = await Ends.open(service.apiUrl);
  const run = async (taskId: string): Promise<Sample> => {
    const startedAt = performance.now();
    const { attemptId } = await startRun(board, taskId);
    const runningMs = performance.now() - startedAt;
    await ends.of(attemptId);
    return { runningMs, doneMs: performance.now() - startedAt };
  };
  // One task per caller, warmed by a first run that makes its worktree.
  const tasks = await Promise.all(
    Array.from({ length: 50 }, (_, n) => createTask(board, { title: `Task ${n}`, git: { repo: 'sample' } })),
  );
  await inParallel(tasks.length, 5, async (n) => {
    await run(tasks[n] ?? '');
  });
  const rows: Row[] = [];
  for (const { callers, runs } of loads) {
    const free = tasks.slice(0, callers);
    rows.push(
      await load('run', { callers, times: runs }, async () => {
        const task = free.pop();
        if (!task) {
          throw new Error('more callers than tasks');
        }
        const sample = await untilFree(() => run(task));
        free.push(task);
        return sample;
      }),
    );
  }
  ends.close();
  return rows;
}

/** The task shows the result a moment before it may be launched again: that moment is not the run's. */
async function untilFree(run: () => Promise<Sample>): Promise<Sample> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof BoardError) || error.code !== 'RUN_ACTIVE') {
        throw error;
      }
    }
  }
}

async function measureFloor(temporalAddress: string): Promise<Row[]> {
  const worker = fork(join(__dirname, 'floor', 'worker.js'), {
    env: { ...process.env, TEMPORAL_ADDRESS: temporalAddress },
  });
  await new Promise((resolve) => worker.once('message', resolve));
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  const one = async (id: string): Promise<Sample> => {
    const startedAt = performance.now();
    const startWorkflowOperation = new WithStartWorkflowOperation('floor', {
      workflowId: id,
      taskQueue: 'floor',
      workflowIdConflictPolicy: 'FAIL',
    });
    await client.workflow.executeUpdateWithStart(launched, { startWorkflowOperation });
    const runningMs = performance.now() - startedAt;
    await client.workflow.getHandle(id).result();
    return { runningMs, doneMs: performance.now() - startedAt };
  };
  await inParallel(20, 5, async (n) => {
    await one(`floor/warm/${n}`);
  });
  const rows: Row[] = [];
  for (const { callers, runs } of loads) {
    rows.push(await load('bare workflow', { callers, times: runs }, (n) => one(`floor/${callers}/${n}`)));
  }
  await connection.close();
  worker.disconnect();
  await new Promise((resolve) => worker.once('exit', resolve));
  return rows;
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'runboard-bench-'));
  const environment = { ...openService, BOARD_MAX_RUNS: '1000' };
  const service = await startAll({
    environment,
    dataDir: join(directory, 'data'),
    ports: { api: 0 },
    quiet: true,
  });
  try {
    const floorRows = await measureFloor(service.temporalAddress);
    const runRows = await measureRuns(service, directory);
    console.table([...floorRows, ...runRows]);
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

void main();
