import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningPart } from '../../platform/processes/parts/part';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { databaseName } from '../../stores/port/database-name';
import { scriptAgent } from '../support/caller';
import { aRepository, git } from '../support/git/repository';
import { kill } from '../support/processes/kill';
import { isStopped, type PausePoints, pausePoints } from '../support/processes/pause-points';
import { partEnvironment, type Service, soonAgain, startService } from '../support/stack/service';
import { shortPolls } from '../support/stack/short-polls';
import { startWorkerProcess } from '../support/stack/worker-process';
import { allEnded } from './runs';

/** A line that an agent wrote about itself. */
interface Line {
  what: 'start' | 'halted' | 'wrote' | 'overlap' | 'print' | 'commit' | 'result' | 'end';
  task: string;
  attempt: string;
  sha: string;
}

let files: TempDir;
let ledgerFile: string;
let repository: string;
let points: PausePoints;
let polls: { PATH: string };
let service: Service;
const beside: RunningPart[] = [];
const workers = (): number[] => [service.pids().worker!, ...beside.map(({ pid }) => pid)];
/** The outcome of each task, which nothing may change. */
const settled: { taskId: string; state: unknown }[] = [];

beforeAll(async () => {
  files = await makeTempDir('paused-worker');
  ledgerFile = join(files.path, 'ledger');
  writeFileSync(ledgerFile, '');
  points = await pausePoints(files.path, () => join(service.dataDir, databaseName));
  polls = await shortPolls(files.path);
  service = await startService(settings(), { restart: soonAgain });
  repository = await aRepository(files.path);
  await service.call.addRepository('sample', repository);
  const agent = (mode: string) => ({
    ...scriptAgent('ledger-bee', mode, '2', '50'),
    type: mode,
    environmentKeys: ['LEDGER'],
  });
  await service.call.configureAgents([agent('work'), agent('halting')]);
  await startAnother();
});
afterEach(() => points.clear());
afterAll(async () => {
  for (const { pid } of beside) {
    kill(pid);
  }
  await service.close();
  await files.remove();
});

/** Where a worker may be paused in a run that continues without it. */
const runPoints: Record<string, RegExp> = {
  prepared: /^git .*update-ref .*refs\/board\/baselines\//,
  dispatched: /^write .*\/envelopes\//,
  spawn: /^spawn /,
};

/** They take as long as the ones below: only when asked for. */
const more = process.env.BOARD_PAUSE_POINTS === 'all' ? Object.keys(runPoints) : [];

const settings = () => ({
  ...points.environment,
  ...polls,
  LEDGER: ledgerFile,
  BOARD_HEARTBEAT_TIMEOUT_MS: '2000',
  BOARD_CHECKPOINT_INTERVAL_MS: '200',
  BOARD_RETRY_BACKOFF_MS: '50',
  BOARD_RUN_RETRIES: '3',
});

async function startAnother(): Promise<void> {
  const logFile = join(files.path, `worker-${beside.length}.log`);
  beside.push(await startWorkerProcess({ environment: partEnvironment(service, settings()), logFile }));
}

const ledger = (taskId: string): Line[] =>
  readFileSync(ledgerFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${taskId}"`))
    .map((line) => JSON.parse(line) as Line);

const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => void process.kill(pid, name);

async function launch(agent: string): Promise<string> {
  const { id } = await service.call.createTask({ title: agent, git: { repo: 'sample' } });
  await service.call.start(id, { agent });
  return id;
}

const ended = async (taskId: string) => (await allEnded(service, [{ taskId, attemptId: '' }]))[0]!;

/** Everything that a worker which wakes late could have changed. */
async function stateOf(taskId: string) {
  const { attempt, taskEnvelope } = await service.call.status(taskId);
  const { path, branch } = taskEnvelope.workspace;
  const names = readdirSync(path)
    .filter((name) => name !== '.git')
    .sort();
  const [{ attempts }, { status, attempt: shown }, refs]: [
    { attempts: { id: string }[] },
    { status: string; attempt: object },
    string,
  ] = await Promise.all([
    service.call.ok('GET', `/api/agents/${taskId}/attempts`),
    service.call.ok('GET', `/api/tasks/${taskId}`),
    git(repository, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/board'),
  ]);
  const logs: { sequence: number; kind: string }[][] = await Promise.all(
    attempts.map(({ id }) => service.call.events(taskId, id)),
  );
  return {
    last: attempt.id,
    head: await git(path, 'symbolic-ref', 'HEAD'),
    tip: await git(repository, 'rev-parse', `refs/heads/${branch}`),
    index: await git(path, 'ls-files', '--stage'),
    dirt: await git(path, 'status', '--porcelain'),
    files: Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'utf8')])),
    refs: refs.split('\n').filter((ref) => attempts.some(({ id }) => ref.includes(id))),
    task: { status, shown },
    events: logs.map((events) => events.map(({ sequence, kind }) => `${sequence} ${kind}`)),
  };
}

/** The last attempt's work is on its branch and in its worktree; nothing of an earlier one came after its start. */
async function expectOneStory(taskId: string) {
  const state = await stateOf(taskId);
  const lines = ledger(taskId);
  const own = lines.filter(({ attempt }) => attempt === state.last);
  expect(own.at(-1)).toMatchObject({ what: 'end', code: 0 });
  expect(own.findLast(({ what }) => what === 'commit')).toMatchObject({ sha: state.tip });
  expect(state).toMatchObject({ dirt: '', task: { status: 'done', shown: { id: state.last, result: 'success' } } });
  const work = Object.entries(state.files).filter(([name]) => name !== 'README.md');
  expect(work.map(([, content]) => content)).toEqual(work.map(() => `${state.last}\n`));
  expect(work.length).toBeGreaterThan(0);
  const since = lines.slice(lines.findIndex(({ attempt }) => attempt === state.last));
  expect(since.filter(({ attempt, what }) => attempt !== state.last && what !== 'start' && what !== 'end')).toEqual([]);
  for (const events of state.events) {
    expect(events.map((event) => Number(event.split(' ')[0]))).toEqual(events.map((_, index) => index + 1));
    const ends = events.filter((event) => /run\.(completed|failed|interrupted)$/.test(event));
    expect(ends).toEqual([events.at(-1)]);
  }
  return state;
}

/** Wakes the late processes, and expects everything to stay as the resumed run has left it. */
async function wake(taskId: string, point: string, ...pids: number[]): Promise<void> {
  const state = await expectOneStory(taskId);
  for (const pid of pids) {
    signal(pid, 'SIGCONT');
  }
  await points.done(point);
  await eventually(() => expect(pids.filter(isStopped)).toEqual([]));
  expect(await expectOneStory(taskId)).toEqual(state);
  settled.push({ taskId, state });
}

/** The warnings of a worker about activities that it has stopped because it slept. */
function stoppedActivities(pid: number): string[] {
  const index = beside.findIndex((each) => each.pid === pid);
  const logFile = index === -1 ? join(service.dataDir, 'logs', 'worker.log') : join(files.path, `worker-${index}.log`);
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('activities are stopped') && line.includes(`"pid":${pid}`))
    .flatMap((line) => (JSON.parse(line) as { activities: string[] }).activities);
}

/** A run may continue without a retry, or need one; it is done either way, and by the other worker. */
async function pausedAt(name: string): Promise<void> {
  await points.arm(name, runPoints[name]!);
  const taskId = await launch('work');
  const late = await points.reached(name);
  expect((await ended(taskId)).attempt.completion.status).toBe('success');
  await wake(taskId, name, late);
}

describe('with two workers', () => {
  it('one that is paused before it resets the branch of a lost attempt touches nothing of the next run', async () => {
    const taskId = await launch('halting');
    await eventually(() => expect(ledger(taskId).map(({ what }) => what)).toContain('halted'));
    // Its agent continues and prints meanwhile.
    await points.arm('working', /^git .*refs\/board\/checkpoints\//);
    const supervisor = await points.reached('working');
    await points.arm('branch', /^git .*update-ref .*refs\/heads\//);
    const late = await points.reached('branch');
    expect(late).not.toBe(supervisor);
    // The one whose agent was lost wakes first, and brings to its end what the other one has begun.
    signal(supervisor, 'SIGCONT');
    expect((await ended(taskId)).attempt.completion.status).toBe('success');
    await wake(taskId, 'branch', late);
    expect(stoppedActivities(late)).toContain('reclaim');
  });

  it('one that slept for less than it would be missed stops the step it is in, and repeats it', async () => {
    await points.arm('prepared', runPoints.prepared!);
    const taskId = await launch('work');
    const slept = await points.reached('prepared');
    const since = performance.now();
    await eventually(() => expect(performance.now() - since).toBeGreaterThan(1_200));
    signal(slept, 'SIGCONT');
    await eventually(() => expect(stoppedActivities(slept)).toContain('prepare'));
    expect((await ended(taskId)).attempt.completion.status).toBe('success');
    settled.push({ taskId, state: await expectOneStory(taskId) });
  });

  for (const name of more) {
    it(`one that is paused at ${name} leaves the run that the other has brought to its end`, () => pausedAt(name));
  }
});

describe('with three workers', () => {
  beforeAll(startAnother);

  it('two that are paused, before an agent is started and inside the restore after it, change nothing', async () => {
    await points.arm('dispatched', runPoints.dispatched!);
    const taskId = await launch('work');
    const first = await points.reached('dispatched');
    await points.arm('restore', /^git .*read-tree --reset -u/);
    const second = await points.reached('restore');
    expect((await ended(taskId)).attempt.completion.status).toBe('success');
    await wake(taskId, 'restore', first, second);
    await points.done('dispatched');
    expect(ledger(taskId).filter(({ what }) => what === 'start')).toHaveLength(1);
  });
});

it('is the same in the end, and every worker lives and takes runs', async () => {
  const runs = await Promise.all(workers().map(() => launch('work')));
  for (const taskId of runs) {
    expect((await ended(taskId)).attempt.completion.status).toBe('success');
  }
  for (const { taskId, state } of settled) {
    expect(await expectOneStory(taskId)).toEqual(state);
  }
  expect(settled.length).toBeGreaterThan(0);
});
