/**
 * What an operator waits for: a change of phase, an agent that continues after a decision, and a run that resumes after its
 * worker was killed, beside Temporal's own heartbeat timeout, before which the death cannot be known.
 *
 *     npm run build && node dist/bench/recovery.js
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRepository } from '../scripts/demo/sample';
import { type RunningService, startAll } from '../scripts/start-all';
import { percentile } from './latency';

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

interface Run {
  taskId: string;
  attemptId: string;
}

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
    await configure(service, dir);
    const rows = [
      row('transition of a phase', await timeTransitions(service)),
      row('decision to resumed agent', await timeDecisions(service)),
      row(`death of a worker to running replacement (heartbeat ${heartbeatTimeoutMs})`, await timeDeaths(service)),
    ];
    console.table(rows);
  } finally {
    await service.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

async function configure(service: RunningService, dir: string): Promise<void> {
  const path = join(dir, 'repository');
  await createRepository(path);
  await ask(service, 'POST', '/config/repos', { name: 'sample', path, defaultBranch: 'main' });
  const node = (type: string, script: string) => ({
    type,
    name: type,
    provider: 'process',
    command: process.execPath,
    args: ['-e', script],
  });
  await ask(service, 'PUT', '/config/agents', {
    agents: [
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      node('asker', asker),
      node('sleeper', 'setInterval(() => undefined, 1000)'),
    ],
  });
}

async function timeTransitions(service: RunningService): Promise<number[]> {
  const run = await launch(service, 'elsewhere', { phase: 'implement' });
  const samples: number[] = [];
  let snapshot = await ask<Snapshot>(service, 'GET', `/agents/${run.taskId}/phase`);
  for (let n = 0; n < transitions; n += 1) {
    const body = {
      attemptId: run.attemptId,
      operationId: `bench-${n}`,
      reason: 'measured',
      expectedSequence: snapshot.sequence,
      expectedPhaseEvidenceDigest: snapshot.evidence.digest,
      expectedManifestDigest: snapshot.manifestDigest,
      targetEvidence: { phase: 'implement' },
    };
    const startedAt = performance.now();
    const path = `/agents/${run.taskId}/phase/transitions`;
    ({ snapshot } = await ask<{ snapshot: Snapshot }>(service, 'POST', path, body));
    samples.push(performance.now() - startedAt);
  }
  await ask(service, 'POST', `/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  return samples;
}

interface Snapshot {
  sequence: number;
  manifestDigest: string;
  evidence: { digest: string };
}

async function timeDecisions(service: RunningService): Promise<number[]> {
  const { taskId, attemptId } = await launch(service, 'asker');
  const samples: number[] = [];
  let afterSequence = 0;
  for (let n = 1; n <= decisions; n += 1) {
    const pending = await until(async () => {
      const path = `/run-approvals?status=pending&attemptId=${attemptId}`;
      return (await ask<{ id: string; revision: number; actionHash: string }[]>(service, 'GET', path))[0];
    });
    const { id, revision: expectedRevision, actionHash: expectedActionHash } = pending;
    const startedAt = performance.now();
    const decision = { decision: 'approved', expectedRevision, expectedActionHash };
    await ask(service, 'POST', `/run-approvals/${id}/decision`, decision);
    await until(async () => {
      const path = `/agents/${taskId}/attempts/${attemptId}/events?afterSequence=${afterSequence}`;
      const page = await ask<{ events: { payload: { text?: string } }[]; nextCursor: number }>(service, 'GET', path);
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

async function timeDeaths(service: RunningService): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < deaths; n += 1) {
    const { taskId, attemptId } = await launch(service, 'sleeper');
    const running = () =>
      until(async () => {
        const now = await ask<{ state: string; attemptId: string }>(service, 'GET', `/agents/${taskId}/status`);
        return now.state === 'running' ? now : undefined;
      }, 50);
    await running();
    const startedAt = performance.now();
    process.kill(service.pids().worker ?? 0, 'SIGKILL');
    const replacement = await until(async () => {
      const now = await running();
      return now.attemptId === attemptId ? undefined : now;
    }, 50);
    samples.push(performance.now() - startedAt);
    await ask(service, 'POST', `/agents/${taskId}/stop`, { attemptId: replacement.attemptId });
  }
  return samples;
}

async function launch(service: RunningService, agent: string, request: object = {}): Promise<Run> {
  const task = { title: 'Measured', git: { repo: 'sample' } };
  const { id: taskId } = await ask<{ id: string }>(service, 'POST', '/tasks', task);
  const launched = await ask<{ attemptId: string }>(service, 'POST', `/agents/${taskId}/start`, { agent, ...request });
  return { taskId, attemptId: launched.attemptId };
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

async function ask<T = unknown>({ apiUrl }: RunningService, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${apiUrl}/api${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }
  return (await response.json()) as T;
}

void main();
