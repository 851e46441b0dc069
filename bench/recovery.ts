/**
 * What an operator waits for: a change of phase, an agent that continues after a decision, and a run that resumes after its
 * worker was killed, beside a bare activity whose worker is killed in the same run: Temporal knows of that by its heartbeat timeout.
 *
 *     npm run build && node dist/bench/recovery.js
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BoardClient, unwrap } from '../clients/typescript/src';
import type { components } from '../clients/typescript/src/types';
import { createRepository } from '../scripts/demo/sample';
import { type RunningService, startAll } from '../scripts/start-all';
import { measureDeaths } from './floor/deaths';
import { percentile } from './latency';
import { addRepository, boardOf, configureAgents, createTask, type Run, startRun, stopRun } from './service';

/** How often each is measured; a first argument divides it, for a quick look. */
const share = Number(process.argv[2] ?? 1);
const transitions = Math.ceil(200 / share);
const decisions = Math.ceil(50 / share);
const deaths = Math.ceil(10 / share);
const heartbeatTimeoutMs = 2_000;
const backoffMs = 100;

/** Asks for permission again and again, and reports each time it continues. */
const asker = `
const say = (event) => process.stdout.write(JSON.stringify(event) + '\\n');
let asked = 0;
const ask = () => say({ type: 'approval', id: 'a' + ++asked, action: 'go on', actionClass: 'tool' });
let first = true;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (first) { first = false; return ask(); }
  if (JSON.parse(line).type !== 'approval') return;
  say({ type: 'message', text: 'resumed ' + asked });
  if (asked < ${decisions}) ask();
  else { say({ type: 'result', status: 'success', summary: 'done' }); process.exit(0); }
});`;

const row = (what: string, samples: number[]) => ({
  what,
  n: samples.length,
  'p50 ms': Math.round(percentile(samples, 0.5)),
  'p99 ms': Math.round(percentile(samples, 0.99)),
});

async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'board-bench-'));
  const service = await startAll({
    environment: {
      ...process.env,
      BOARD_AUTH_ENABLED: 'false',
      BOARD_HEARTBEAT_TIMEOUT_MS: String(heartbeatTimeoutMs),
      BOARD_RETRY_BACKOFF_MS: String(backoffMs),
      RATE_LIMIT_GLOBAL: '0',
      RATE_LIMIT_READ: '0',
      RATE_LIMIT_WRITE: '0',
      LOG_LEVEL: 'warn',
    },
    dataDir: join(dir, 'data'),
    ports: { api: 0 },
    quiet: true,
    // Each death is to be the first in a row: later ones are waited after.
    restart: { healthyAfterMs: 1_000 },
  });
  try {
    const board = boardOf(service);
    await configure(board, dir);
    const rows = [
      row('transition of a phase', await timeTransitions(board)),
      row('decision to resumed agent', await timeDecisions(board)),
      row(
        `death of a worker to running replacement (heartbeat ${heartbeatTimeoutMs})`,
        await timeDeaths(service, board),
      ),
      row(
        'the same of a bare activity, shown by its heartbeat alone',
        await measureDeaths(service.temporalAddress, { times: deaths, heartbeatTimeoutMs, backoffMs }),
      ),
    ];
    console.table(rows);
  } finally {
    await service.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

async function configure(board: BoardClient, dir: string): Promise<void> {
  const path = join(dir, 'repository');
  await createRepository(path);
  await addRepository(board, { name: 'sample', path, defaultBranch: 'main' });
  const node = (type: string, script: string) => ({
    type,
    name: type,
    provider: 'process' as const,
    command: process.execPath,
    args: ['-e', script],
  });
  await configureAgents(board, [
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    node('asker', asker),
    node('sleeper', 'setInterval(() => undefined, 1000)'),
  ]);
}

async function timeTransitions(board: BoardClient): Promise<number[]> {
  const run = await launch(board, { agent: 'elsewhere', phase: 'implement' });
  const path = { taskId: run.taskId };
  const samples: number[] = [];
  let snapshot = await unwrap(board.GET('/api/agents/{taskId}/phase', { params: { path } }));
  for (let n = 0; n < transitions; n += 1) {
    const body = {
      attemptId: run.attemptId,
      operationId: `bench-${n}`,
      reason: 'measured',
      expectedSequence: snapshot.sequence,
      expectedPhaseEvidenceDigest: snapshot.evidence.digest,
      expectedManifestDigest: snapshot.manifestDigest,
      targetEvidence: { phase: 'implement' as const },
    };
    const startedAt = performance.now();
    const response = await unwrap(board.POST('/api/agents/{taskId}/phase/transitions', { params: { path }, body }));
    samples.push(performance.now() - startedAt);
    if (response.status !== 'applied') {
      throw new Error('A transition to the same phase needs no approval.');
    }
    ({ snapshot } = response);
  }
  await stopRun(board, run);
  return samples;
}

async function timeDecisions(board: BoardClient): Promise<number[]> {
  const { taskId, attemptId } = await launch(board, { agent: 'asker' });
  const samples: number[] = [];
  let afterSequence = 0;
  for (let n = 1; n <= decisions; n += 1) {
    const pending = await until(async () => {
      const query = { status: 'pending' as const, attemptId };
      return (await unwrap(board.GET('/api/run-approvals', { params: { query } })))[0];
    });
    const { id, revision: expectedRevision, actionHash: expectedActionHash } = pending;
    const startedAt = performance.now();
    const body = { decision: 'approved' as const, expectedRevision, expectedActionHash };
    await unwrap(
      board.POST('/api/run-approvals/{approvalId}/decision', { params: { path: { approvalId: id } }, body }),
    );
    await until(async () => {
      const params = { path: { taskId, attemptId }, query: { afterSequence } };
      const page = await unwrap(board.GET('/api/agents/{taskId}/attempts/{attemptId}/events', { params }));
      const resumed = page.events.some(({ payload }) => payload.text === `resumed ${n}`);
      if (resumed) {
        afterSequence = page.nextCursor;
      }
      return resumed || undefined;
    });
    samples.push(performance.now() - startedAt);
  }
  return samples;
}

async function timeDeaths(service: RunningService, board: BoardClient): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < deaths; n += 1) {
    const { taskId, attemptId } = await launch(board, { agent: 'sleeper' });
    const running = () =>
      until(async () => {
        const status = await unwrap(board.GET('/api/agents/{taskId}/status', { params: { path: { taskId } } }));
        return (status.state === 'running' && status.attemptId) || undefined;
      }, 50);
    await running();
    const startedAt = performance.now();
    process.kill(service.pids().worker ?? 0, 'SIGKILL');
    const replacement = await until(async () => {
      const current = await running();
      return current === attemptId ? undefined : current;
    }, 50);
    samples.push(performance.now() - startedAt);
    await stopRun(board, { taskId, attemptId: replacement });
  }
  return samples;
}

async function launch(board: BoardClient, request: components['schemas']['LaunchRequest']): Promise<Run> {
  return startRun(board, await createTask(board, { title: 'Measured', git: { repo: 'sample' } }), request);
}

/** Polls every few milliseconds, for at most a minute. */
async function until<T>(look: () => Promise<T | undefined>, everyMs = 5): Promise<T> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline;) {
    const value = await look();
    if (value !== undefined) {
      return value;
    }
    await delay(everyMs);
  }
  throw new Error('It did not happen within a minute.');
}

void main();
