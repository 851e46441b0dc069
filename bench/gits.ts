/**
 * How many git processes a run starts, step by step: in a new worktree, in one that is there, and with an agent that changes
 * a file; in a repository without a remote and in one with it. Beside them, the commands that a person who does the same by hand
 * cannot do without, and how long those take. CPU is that of the processes, their starts and git's own children, in milliseconds.
 *
 *     npm run build && node dist/bench/gits.js
 *
 * With `--commands` it prints each command, too, with its CPU. Processes that git starts itself are not counted.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { type BoardClient, unwrap } from '../clients/typescript/src';
import { countingGit, type StartedGit } from '../platform/testing/counting-git';
import { createRepository, git } from '../scripts/demo/sample';
import { type RunningService, startAll } from '../scripts/start-all';
import { addRepository, boardOf, configureAgents, createTask, openService, startRun } from './service';

/** An activity of a workflow, from its start to its end, in milliseconds. */
interface Step {
  name: string;
  from: number;
  to: number;
}

interface Scenario {
  name: string;
  gits: { step: string; command: string; cpuMs: number }[];
}

const millis = (time: unknown): number => {
  const { seconds, nanos } = time as { seconds?: { toString(): string } | null; nanos?: number | null };
  return Number(seconds?.toString() ?? 0) * 1000 + (nanos ?? 0) / 1e6;
};

/** The activities of every workflow on a server, with the times between which they worked. */
async function stepsOf(client: Client): Promise<Step[]> {
  const steps: Step[] = [];
  for await (const { workflowId, runId } of client.workflow.list()) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const names = new Map<string, string>();
    const starts = new Map<string, number>();
    for (const event of events ?? []) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      const started = event.activityTaskStartedEventAttributes;
      const ended = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
      if (scheduled) {
        names.set(String(event.eventId), scheduled.activityType?.name ?? '');
      } else if (started) {
        starts.set(String(started.scheduledEventId), millis(event.eventTime));
      } else if (ended) {
        const id = String(ended.scheduledEventId);
        steps.push({ name: names.get(id) ?? '', from: starts.get(id) ?? 0, to: millis(event.eventTime) });
      }
    }
  }
  return steps;
}

/** The step that a process belongs to: the one that had begun last. */
const stepAt = (steps: readonly Step[], at: number): string =>
  steps.filter(({ from, to }) => from <= at && at <= to).toSorted((a, b) => b.from - a.from)[0]?.name ?? 'other';

/** Runs an agent on a task until its result and everything after it is there. */
async function run(board: BoardClient, taskId: string, agent: string): Promise<void> {
  await startRun(board, taskId, { agent });
  const params = { path: { taskId } };
  const hasResult = async () => (await unwrap(board.GET('/api/tasks/{taskId}', { params }))).attempt?.result;
  while ((await hasResult()) === undefined) {
    await delay(50);
  }
  // What follows the result, such as the judgement of changes outside, is part of the run.
  await delay(200);
}

async function measure(
  service: RunningService,
  { board, started }: { board: BoardClient; started: () => Promise<StartedGit[]> },
): Promise<Scenario[]> {
  const connection = await Connection.connect({ address: service.temporalAddress });
  const client = new Client({ connection });
  const scenarios: { name: string; gits: StartedGit[] }[] = [];
  for (const repo of ['plain', 'with-remote']) {
    // The first run of a repository reads its settings, and those of the operator.
    const warm = await createTask(board, { title: 'Warm up', git: { repo } });
    await run(board, warm, 'idle');
    const taskId = await createTask(board, { title: 'Count', git: { repo } });
    for (const [what, agent] of [
      ['new worktree', 'idle'],
      ['later', 'idle'],
      ['with a change', 'editor'],
    ] as const) {
      const before = (await started()).length;
      await run(board, taskId, agent);
      scenarios.push({ name: `${repo}: ${what}`, gits: (await started()).slice(before) });
    }
  }
  const steps = await stepsOf(client);
  await connection.close();
  return scenarios.map(({ name, gits }) => ({
    name,
    gits: gits.map(({ at, ...git }) => ({ step: stepAt(steps, at), ...git })),
  }));
}

/** The same by hand: what each scenario needs of git at least. */
function commandsByHand(
  worktree: string,
  remote: boolean,
): Record<string, { in: 'repository' | 'worktree'; args: string[] }[]> {
  const fetch = { in: 'repository' as const, args: ['fetch', '--quiet', 'origin'] };
  return {
    'new worktree': [
      ...(remote ? [fetch] : []),
      { in: 'repository', args: ['worktree', 'add', '--quiet', '-b', 'by-hand', worktree, 'main'] },
    ],
    later: [{ in: 'worktree', args: ['status', '--porcelain'] }],
    'with a change': [
      { in: 'worktree', args: ['add', '--all'] },
      { in: 'worktree', args: ['commit', '--quiet', '-m', 'Change'] },
    ],
  };
}

async function measureByHand(directory: string): Promise<Record<string, { gits: number; ms: number }>> {
  const rows: Record<string, { gits: number; ms: number }> = {};
  for (const name of ['plain', 'with-remote']) {
    const repository = join(directory, name);
    const worktree = join(directory, `${name}-by-hand`);
    for (const [what, commands] of Object.entries(commandsByHand(worktree, name === 'with-remote'))) {
      if (what === 'with a change') {
        await writeFile(join(worktree, 'added.txt'), '');
      }
      const startedAt = performance.now();
      for (const command of commands) {
        await git(command.in === 'repository' ? repository : worktree, ...command.args);
      }
      rows[`${name}: ${what}`] = { gits: commands.length, ms: Math.round(performance.now() - startedAt) };
    }
  }
  return rows;
}

function print(scenarios: readonly Scenario[], byHand: Record<string, { gits: number; ms: number }>): void {
  const steps = [...new Set(scenarios.flatMap(({ gits }) => gits.map(({ step }) => step)))];
  const rows = [...steps, 'all'].map((step) => [
    step,
    Object.fromEntries(
      scenarios.map(({ name, gits }) => [name, gits.filter((each) => step === 'all' || each.step === step).length]),
    ),
  ]);
  const floor = (of: 'gits' | 'ms') => Object.fromEntries(scenarios.map(({ name }) => [name, byHand[name]?.[of] ?? 0]));
  const ratio = ({ name, gits }: Scenario) => Math.round((gits.length / (byHand[name]?.gits ?? NaN)) * 10) / 10;
  const cpu = ({ name, gits }: Scenario) => [name, gits.reduce((sum, { cpuMs }) => sum + cpuMs, 0)] as const;
  console.table({
    ...Object.fromEntries(rows),
    'all, CPU ms': Object.fromEntries(scenarios.map(cpu)),
    'by hand': floor('gits'),
    'by hand, ms': floor('ms'),
    'all, times by hand': Object.fromEntries(scenarios.map((scenario) => [scenario.name, ratio(scenario)])),
  });
  if (process.argv.includes('--commands')) {
    for (const { name, gits } of scenarios) {
      console.log(`\n${name}`);
      for (const { step, command, cpuMs } of gits) {
        console.log(`  ${step}: ${cpuMs} ms: git ${command.slice(0, 200)}`);
      }
    }
  }
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'runboard-bench-'));
  const { path, started } = await countingGit(directory, { cpu: true });
  const service = await startAll({
    environment: { ...openService, PATH: path },
    dataDir: join(directory, 'data'),
    ports: { api: 0 },
    quiet: true,
  });
  try {
    const board = boardOf(service);
    for (const name of ['plain', 'with-remote']) {
      await createRepository(join(directory, name));
    }
    const remote = join(directory, 'with-remote.git');
    await git(directory, 'clone', '--quiet', '--bare', 'with-remote', remote);
    await git(join(directory, 'with-remote'), 'remote', 'add', 'origin', remote);
    for (const name of ['plain', 'with-remote']) {
      await addRepository(board, { name, path: join(directory, name) });
    }
    await configureAgents(board, [
      { type: 'idle', name: 'Idle', provider: 'process', command: 'true' },
      { type: 'editor', name: 'Editor', provider: 'process', command: 'touch', args: ['added.txt'] },
    ]);
    const scenarios = await measure(service, { board, started });
    print(scenarios, await measureByHand(directory));
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

void main();
