import '../../platform/processes/parts/preload';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createBoardClient, unwrap } from '../../clients/typescript/src';
import type { RunEvent } from '../../contracts/runs/event';
import { makeFilesPrivate } from '../../platform/processes/operator-umask';
import { type RunningService, startAll } from '../start-all';
import { createRepository, exampleAgent, git, sampleTask } from './sample';
import { Terminal } from './terminal';
import { watchTask } from './watch';

const stepDelayMs = 600;
/** How many steps the agent gets to report before its worker is killed. */
const stepsBeforeKill = 3;

const { values: options } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const terminal = new Terminal();

/** Shortened, so that the loss of a worker is noticed while a person watches. */
const settings = { BOARD_AUTH_ENABLED: 'false', BOARD_HEARTBEAT_TIMEOUT_MS: '2500', LOG_LEVEL: 'info' };
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(BOARD_|TEMPORAL_|MONGODB_|RATE_LIMIT_)/.test(name)),
);

async function main(): Promise<void> {
  makeFilesPrivate();
  const directory = await mkdtemp(join(tmpdir(), 'runboard-demo-'));
  const interrupted = new AbortController();
  let service: RunningService | undefined;
  process.once('SIGINT', () => {
    interrupted.abort(new Error('Interrupted.'));
    void service?.stop();
  });
  try {
    terminal.title('Runboard demo: an agent run that survives the death of its worker');
    terminal.step('…', 'starting Temporal, a worker and the api');
    service = await startAll({
      environment: { ...inherited, ...settings },
      dataDir: join(directory, 'data'),
      // A demo that runs by itself has no visitors.
      services: [],
      report: (line) => terminal.step('…', line),
      ports: { api: 0, ...(options.keep ? { temporalUi: 0 } : {}) },
      quiet: true,
      signal: interrupted.signal,
    });
    terminal.step('✓', `everything is up: ${service.apiUrl}/api`, 'green');
    await show(service, directory);
    if (options.keep) {
      terminal.line(`\n  Still running, with its data in ${directory}. Ctrl-C stops it and removes the data.`);
      await service.ended;
    }
  } finally {
    await service?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function show(service: RunningService, directory: string): Promise<void> {
  const client = createBoardClient({ url: service.apiUrl });
  const repository = join(directory, 'shop');
  await createRepository(repository);
  await unwrap(client.POST('/api/config/repos', { body: { name: 'shop', path: repository } }));
  await unwrap(client.PUT('/api/config/agents', { body: { agents: [exampleAgent(stepDelayMs)] } }));
  const task = await unwrap(client.POST('/api/tasks', { body: sampleTask }));
  terminal.step('✓', `a git repository and the task ${task.id}: ${sampleTask.title}`, 'green');

  const started = await unwrap(
    client.POST('/api/agents/{taskId}/start', { params: { path: { taskId: task.id } }, body: {} }),
  );
  terminal.step('▶', `the agent works as ${started.attemptId}`);

  const killer = killWorkerOnce(service, started.attemptId);
  const watch = watchTask(service.apiUrl, task.id, (event) => {
    printEvent(event);
    killer(event);
  });
  const status = await watch.finished;
  watch.close();
  await summarise(service, { directory, repository, taskId: task.id, status });
}

/** Kills the worker with SIGKILL once the first attempt has reported a few steps. */
function killWorkerOnce(service: RunningService, attemptId: string): (event: RunEvent) => void {
  let steps = 0;
  return (event) => {
    if (event.attemptId !== attemptId || event.kind !== 'progress') {
      return;
    }
    steps += 1;
    const { worker } = service.pids();
    if (steps !== stepsBeforeKill || worker === undefined) {
      return;
    }
    process.kill(worker, 'SIGKILL');
    terminal.step('✗', `kill -9 ${worker}: the worker is dead, in the middle of the run`, 'red');
    terminal.step('…', 'its supervisor starts it again; the run is missed when its heartbeat stays away');
  };
}

/** One line for an event, in a newcomer's words. */
function printEvent({ kind, payload, attemptId, sequence }: RunEvent): void {
  const where = terminal.paint('dim', `${attemptId} #${sequence}`);
  const text = (field: string) => (typeof payload[field] === 'string' ? payload[field] : '');
  switch (kind) {
    case 'run.started':
      return terminal.step('▶', `run started ${where}`);
    case 'progress':
      return terminal.step('·', `${bar(payload.percent)}${text('message')} ${where}`);
    case 'file.changed':
      return terminal.step('·', `${text('status')} ${text('path')} ${where}`, 'dim');
    case 'tool.started':
    case 'tool.completed':
      return terminal.step('·', `${kind} ${text('name')} ${where}`, 'dim');
    case 'run.interrupted':
      return terminal.step(
        '!',
        `${text('summary')} What it left is kept as ${text('preservedRef') || 'nothing'}. ${where}`,
        'yellow',
      );
    case 'run.completed':
      return terminal.step('✓', `${text('summary')} ${where}`, 'green');
    case 'run.failed':
      return terminal.step('✗', `${text('summary')} ${where}`, 'red');
    default:
      return undefined;
  }
}

const barWidth = 12;

function bar(percent: unknown): string {
  if (typeof percent !== 'number') {
    return '';
  }
  const filled = Math.round((percent / 100) * barWidth);
  return `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}] `;
}

async function summarise(
  service: RunningService,
  { directory, repository, taskId, status }: { directory: string; repository: string; taskId: string; status: string },
): Promise<void> {
  const client = createBoardClient({ url: service.apiUrl });
  const { attempt, taskEnvelope } = await unwrap(
    client.GET('/api/agents/{taskId}/status', { params: { path: { taskId } } }),
  );
  const board = join(directory, 'data', 'tasks', 'active');
  const file = (await readdir(board)).find((name) => name.startsWith(taskId)) ?? '';
  const branch = taskEnvelope?.workspace?.branch;
  if (!attempt || branch === undefined) {
    throw new Error('The run has no attempt with a workspace.');
  }
  terminal.title(`The run ended: ${status}`);
  terminal.rows([
    ['Attempt', attempt.id],
    ['Commit', await git(repository, 'log', '-1', '--format=%h %s', branch)],
    ['Branch', `${branch} of ${repository}`],
    ['Files', (await git(repository, 'diff', '--stat', `main...${branch}`)).split('\n').at(-1)?.trim() ?? ''],
    ['Task file', join(board, file)],
    ['Events', `${service.apiUrl}/api/agents/${taskId}/attempts/${attempt.id}/events`],
    ['API', `${service.apiUrl}/api/openapi.json`],
    service.temporalUiUrl ? ['Temporal UI', service.temporalUiUrl] : ['Temporal', service.temporalAddress],
  ]);
  if (!options.keep) {
    terminal.line('\n  Stopping. Keep it running with: npm run demo -- --keep');
  }
  if (status !== 'success') {
    process.exitCode = 1;
  }
}

main().catch((error: unknown) => {
  terminal.step('✗', error instanceof Error ? error.message : String(error), 'red');
  process.exitCode = 1;
});
