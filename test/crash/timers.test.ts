import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { findByEnvironment } from '../../platform/processes/identity';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { outputCleanupId } from '../../workflows/output-cleanup/messages';
import { temporaryAuthorityId } from '../../workflows/temporary-authority/messages';
import { createWorktreeLauncher } from '../../workflows/worktree/client';
import { type Answer, scriptAgent } from '../support/caller';
import { changeFeatures } from '../support/change-features';
import { anApprovalRequest } from '../support/factories/approval';
import { aRepository } from '../support/git/repository';
import { persistently } from '../support/processes/persistently';
import { setRunTime } from '../support/run-time';
import { aRequester, aWaitingRun } from '../support/runs/approvals';
import { confinedAgent, inMs, readPhase, transitionOf } from '../support/runs/phases';
import { proofsOf } from '../support/stack/proofs';
import { partEnvironment, type Service, startService } from '../support/stack/service';
import { startWorkerProcess } from '../support/stack/worker-process';
import type { Launched } from './runs';

/**
 * Every timer that the product waits for, shortened: all of them are set, everything is stopped until the last one would
 * have gone off, and started again. docs/use/runs/timers.md has the list of them.
 */

/** How far ahead a moment lies when everything is stopped: what comes before the stop has to fit in, on a busy machine too. */
const aheadMs = 15_000;
const retentionMs = 1_000;

let files: TempDir;
let service: Service;
let connection: Connection | undefined;
let temporal: Client;
/** What was under way when everything was stopped. */
let far: Launched;
let failed: Launched;
let overtime: Launched;
let queued: Launched;
let waiting: Launched & { approval: Answer['body'] };
let jailed: Launched & { confined: Answer['body'] };
let prolific: Launched & { artifactId: string };
let idle: { taskId: string };
let stoppedAt: string;

describe('timers after crashes', () => {
  beforeAll(async () => {
    files = await makeTempDir('timers');
    const settings = {
      BOARD_HOST_ID: 'first',
      BOARD_RETRY_BACKOFF_MS: String(aheadMs),
      BOARD_ARTIFACT_RETENTION_MS: String(retentionMs),
    };
    service = await startService(settings);
    const path = await configure();
    const second = await startWorkerProcess({
      environment: partEnvironment(service, { ...settings, BOARD_HOST_ID: 'second' }),
      logFile: join(files.path, 'second.log'),
    });
    // Until the worker is live, it is unknown what its host has.
    await persistently(() =>
      service.call.ok('POST', '/api/config/repos', { name: 'far', path, defaultBranch: 'main', hostId: 'second' }),
    );
    await connected(async (client) => {
      // What takes a while to come about comes first: the timers begin after it.
      [prolific, far, waiting, jailed, idle] = await Promise.all([
        aProlificRun(),
        aRunFarAway(),
        aRunThatWaits(),
        aConfinedRun(),
        service.call.createTask({ title: 'Idle', git: { repo: 'sample' } }).then(({ id }) => ({ taskId: id })),
      ]);
      const due = await setTimers(client);
      stoppedAt = new Date().toISOString();
      expect(due.filter((at) => at <= stoppedAt)).toEqual([]);
      process.kill(second.pid, 'SIGKILL');
      for (const { pid } of await findByEnvironment('BOARD_ATTEMPT_ID', far.attemptId)) {
        process.kill(pid, 'SIGKILL');
      }
      return due;
    }).then(async (due) => {
      service = await service.restart(async () => {
        await second.exited;
        const last = Math.max(...due.map((at) => Date.parse(at)));
        await delay(Math.max(0, last - Date.now()) + 500);
      });
    });
    connection = await Connection.connect({ address: service.temporalAddress });
    temporal = new Client({ connection });
  });

  afterAll(async () => {
    await connection?.close();
    await service.close();
    await files.remove();
  });

  /** Configures what needs no other host; returns the path of a repository. */
  async function configure(): Promise<string> {
    const { call } = service;
    const path = await aRepository(files.path);
    await call.ok('POST', '/api/config/repos', { name: 'sample', path, defaultBranch: 'main', hostId: 'first' });
    await call.configureAgents([
      scriptAgent('worker-bee', '3', '20'),
      { ...scriptAgent('worker-bee', '6000', '100'), type: 'long-bee' },
      { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
      scriptAgent('prolific'),
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      { ...confinedAgent('jailed'), provider: 'remote-callback', command: undefined, args: undefined },
    ]);
    const queue = { leaseMs: 3_000, retryBackoffMs: 500 };
    await call.ok('PATCH', '/api/settings/features', { admission: { leaseMs: 3_000, heartbeatMs: 500, queue } });
    return path;
  }

  /** Nothing is inspected here. */
  const notAsked = (): Promise<never> => Promise.reject(new Error('nobody is asked'));

  /** With a client of the Temporal server as it is before the stop. */
  async function connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const connection = await Connection.connect({ address: service.temporalAddress });
    try {
      return await work(new Client({ connection }));
    } finally {
      await connection.close();
    }
  }

  async function launch(agent: string, repo: string | null = 'sample'): Promise<Launched> {
    const task = await service.call.createTask({ title: agent, ...(repo === null ? {} : { git: { repo } }) });
    const { attemptId } = await service.call.start(task.id, { agent });
    return { taskId: task.id, attemptId };
  }

  /** One that holds capacity of a host which will not come back. */
  async function aRunFarAway(): Promise<Launched> {
    const run = await launch('long-bee', 'far');
    await persistently(async () => expect((await service.call.status(run.taskId)).lastSequence).toBeGreaterThan(2));
    return run;
  }

  async function aProlificRun(): Promise<typeof prolific> {
    const run = await launch('prolific');
    await service.call.ended(run.taskId);
    const events = await service.call.events(run.taskId, run.attemptId);
    return {
      ...run,
      artifactId: events.find(({ payload }) => payload.outputArtifact).payload.outputArtifact.artifactId,
    };
  }

  const aRunThatWaits = async (): Promise<typeof waiting> => ({
    ...(await aWaitingRun(service.call)),
    approval: undefined,
  });

  /** A run that may do less than it did: in an emergency it may do more for a while. */
  async function aConfinedRun(): Promise<typeof jailed> {
    const run = await aWaitingRun(service.call, 'jailed');
    const narrow = transitionOf(await readPhase(service.call, run), 'implement', 'narrow', {
      targetEvidence: { phase: 'implement', dimensions: { 'network.egress': { scopes: [] } } },
    });
    const { snapshot } = await service.call.ok('POST', `/api/agents/${run.taskId}/phase/transitions`, narrow);
    return { ...run, confined: snapshot };
  }

  /** Sets every timer, and returns when each goes off. */
  async function setTimers(client: Client): Promise<string[]> {
    const { call } = service;
    failed = await launch('limited');
    await call.ended(failed.taskId);
    const recovery = await call.ok('GET', `/api/agents/${failed.taskId}/recovery`);
    expect(recovery).toMatchObject({ state: 'scheduled', attemptId: failed.attemptId });
    await setRunTime(service, aheadMs);
    overtime = await launch('elsewhere', null);
    // From here on the run far away has all capacity, and every process reads the new limit.
    await changeFeatures(call, {
      agents: { timeoutMinutes: 240 },
      admission: { limits: { provider: { runs: 1 } } },
    });
    const expiresAt = inMs(aheadMs);
    const emergencyOverride = { justification: 'production is down', expiresAt };
    const wide = transitionOf(jailed.confined, 'implement', 'wide', { emergencyOverride });
    const requester = await aRequester(client, { dataDir: service.dataDir });
    const proofs = await proofsOf({ BOARD_DATA_DIR: service.dataDir, MONGODB_URL: undefined });
    try {
      [queued, waiting.approval] = await Promise.all([
        launch('worker-bee'),
        requester.approvals.request(anApprovalRequest(waiting, { lifetimeMs: aheadMs })),
        call.ok('POST', `/api/agents/${jailed.taskId}/phase/transitions`, wide),
        // The least a caller may request is a minute.
        createWorktreeLauncher({ client, ask: notAsked, proofs, heartbeatTimeoutMs: 2_000 }).operate(
          idle.taskId,
          { kind: 'create', leaseSeconds: aheadMs / 1_000 },
          'test',
        ),
      ]);
    } finally {
      await requester.close();
    }
    expect((await call.status(overtime.taskId)).state).toBe('running');
    expect((await call.status(queued.taskId)).state).toBe('queued');
    expect((await call.ok('GET', '/api/tasks/worktrees/cleanup-preview')).candidates).toEqual([]);
    const { lease } = await call.ok('GET', `/api/tasks/${idle.taskId}/worktree`);
    return [
      recovery.notBefore,
      expiresAt,
      waiting.approval.expiresAt,
      lease.expiresAt,
      // The run is at work: its time began before now.
      inMs(aheadMs),
    ];
  }

  const admitted = ({ attemptId }: Launched) => service.call.ok('GET', `/api/admission/${attemptId}`);

  test('a retry whose time came is launched', async () => {
    const attempts = await persistently(async () => {
      const page = await service.call.ok('GET', `/api/agents/${failed.taskId}/attempts`);
      expect(page.attempts).toHaveLength(2);
      return page.attempts;
    });
    expect(attempts[0]).toMatchObject({ parentAttemptId: failed.attemptId, retryNumber: 1 });
    expect(attempts[0].createdAt > stoppedAt).toBe(true);
  });

  test('a request for approval has expired, and can no longer be decided', async () => {
    const { id, revision, actionHash } = waiting.approval;
    await persistently(async () => {
      expect((await service.call.events(waiting.taskId, waiting.attemptId)).at(-1)).toMatchObject({
        kind: 'approval.resolved',
        payload: { status: 'expired', actor: 'system:expiry' },
      });
    });
    const decision = { decision: 'approved', expectedRevision: revision, expectedActionHash: actionHash };
    expect(await service.call.post(`/api/run-approvals/${id}/decision`, decision)).toMatchObject({ status: 409 });
  });

  test('an emergency has ended, and the earlier authority is restored', async () => {
    // The worker ends it without any request.
    await expect(temporal.workflow.getHandle(temporaryAuthorityId(jailed.attemptId, 'wide')).result()).resolves.toEqual(
      {
        applied: true,
      },
    );
    const after = await readPhase(service.call, jailed);
    expect(after).toMatchObject({
      emergency: null,
      sequence: 3,
      evidence: { digest: jailed.confined.evidence.digest },
    });
    expect(after.history[2]).toMatchObject({ kind: 'emergency-ended', actor: 'system:phase-expiry' });
  });

  test('a run whose time is up has ended', async () => {
    const { attempt } = await service.call.ended(overtime.taskId);
    expect(attempt).toMatchObject({ id: overtime.attemptId, completion: { harness: { ended: 'timeout' } } });
    expect(await admitted(overtime)).toMatchObject({ state: 'released' });
  });

  test('what was reserved on a host that is gone is free, and goes to the launch that waits', async () => {
    await persistently(async () => expect(await admitted(far)).toMatchObject({ state: 'expired' }));
    await persistently(async () => {
      const status = await service.call.status(queued.taskId);
      expect(status).toMatchObject({ state: 'ended', attempt: { id: queued.attemptId } });
      expect(status.attempt.completion.status).toBe('success');
    });
  });

  test('a continuing run holds its capacity: its lease is renewed before anything ends it', async () => {
    for (const run of [waiting, jailed]) {
      const reservation = await admitted(run);
      expect(reservation).toMatchObject({ state: 'active', revision: 2 });
      await persistently(async () =>
        expect(Date.parse((await admitted(run)).lease.expiresAt)).toBeGreaterThan(Date.now()),
      );
    }
  });

  test('a worktree whose lease is over is offered for removal', async () => {
    const { candidates } = await service.call.ok('GET', '/api/tasks/worktrees/cleanup-preview');
    expect(candidates).toMatchObject([{ taskId: idle.taskId, expired: true, safe: true }]);
  });

  test('output whose time is over is removed by the next look', async () => {
    const { taskId, attemptId, artifactId } = prolific;
    const url = `/api/agents/${taskId}/output-artifacts/${artifactId}?runId=${attemptId}&attemptId=${attemptId}`;
    await temporal.schedule.getHandle(outputCleanupId).trigger();
    await persistently(async () => expect((await service.call.ok('GET', url)).artifact.state).toBe('expired'));
  });
});
