import { join } from 'node:path';
import { claimTask } from '../../activities/agent-run/admission/run-active';
import {
  type CompletionDependencies,
  createCompletionActivities,
} from '../../activities/agent-run/completion/activities';
import type { AttemptState } from '../../contracts/runs/attempt';
import type { TerminalClaim } from '../../domain/completion';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { openBudgets } from '../../stores/governance/budgets/budgets';
import type { Database } from '../../stores/port/collection';
import { createActiveRunStore } from '../../stores/runs/admission/active-run-store';
import { type AttemptRecord, createAttemptStore } from '../../stores/runs/attempt-store';
import { cancelRecovery } from '../../stores/runs/cancel-recovery';
import { createRunEventStore } from '../../stores/runs/event-store';
import { createRecoveryStore, type RecoveryStore } from '../../stores/runs/recovery-store';
import { createWorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { openSqlite } from '../../stores/sqlite/database';
import { createAuditStore } from '../../stores/system/audit-store';
import { createFeedStore } from '../../stores/system/feed-store';
import { createTelemetryStore } from '../../stores/system/telemetry-store';
import { anAttempt as storedAttempt } from '../support/factories/records';
import { aWorktree } from '../support/git/worktrees';

const log = createLog({ name: 'test', level: 'silent' });
const taskId = 'task_1';
const now = () => new Date('2026-01-01T00:00:00.000Z');
let directory: TempDir;
let database: Database;
beforeEach(async () => {
  directory = await makeTempDir('completion');
  database = await openSqlite({ file: join(directory.path, 'store.sqlite'), log });
});
afterEach(async () => {
  await database.close();
  await directory.remove();
});

const claim: TerminalClaim = {
  terminalSource: 'process',
  status: 'failed',
  summary: 'too many requests',
  claims: { blockers: [{ code: 'rate-limit', summary: 'wait' }] },
  harness: { ended: 'exit', exitCode: 1 },
};

const anAttempt = (id: string, state: AttemptState, fields: Partial<AttemptRecord> = {}) =>
  storedAttempt(id, { taskId, rootAttemptId: 'first', state, createdAt: now().toISOString(), ...fields });

/** What ends runs, on real stores; nothing waits in the queue. */
async function completion(recoveriesAs: (store: RecoveryStore) => RecoveryStore = (store) => store) {
  const feed = await createFeedStore(database);
  const recoveries = await createRecoveryStore(database);
  const worktrees = await createWorktreeStore(database);
  const stores = {
    attempts: await createAttemptStore(database),
    activeRuns: await createActiveRunStore(database),
    worktrees,
    audit: await createAuditStore(database),
    events: await createRunEventStore(database, feed),
  };
  const deps = {
    ...stores,
    feed,
    recoveries: recoveriesAs(recoveries),
    telemetry: await createTelemetryStore(database),
    phases: { get: () => Promise.resolve(undefined) },
    board: { get: () => Promise.resolve(undefined), update: () => Promise.resolve() },
    admission: {
      requests: { get: () => Promise.resolve(undefined) },
      queue: {
        get: () => Promise.resolve(undefined),
        end: () => Promise.resolve(),
        isEmpty: () => Promise.resolve(true),
      },
      reservations: { release: () => Promise.resolve() },
      settings: { current: () => Promise.resolve({ agents: { requireReview: false } }) },
    },
    budgets: await openBudgets(database, {
      settings: { current: () => Promise.reject(new Error('no budget is asked about')) },
      isOver: () => Promise.resolve(false),
    }),
    withdrawApprovals: () => Promise.resolve(),
    notifyGoal: async () => false,
    planContinuation: async () => undefined,
    log,
    now,
  } as unknown as CompletionDependencies;
  return { ...stores, recoveries, deps, activities: createCompletionActivities(deps) };
}

const finishing = {
  attemptId: 'first',
  ending: { by: 'agent' } as const,
  nextAttemptId: 'second',
  maxRetries: 1,
  retryBackoffMs: 1_000,
};

describe('recovery cancelled while its run is being ended', () => {
  it('keeps neither the task nor its worktree, and nothing follows', async () => {
    const cancels = (store: RecoveryStore): RecoveryStore => ({
      ...store,
      // The record can be read from here on, and is cancelled before the task is handed over.
      async schedule(record) {
        const scheduled = await store.schedule(record);
        await cancelRecovery({ recoveries: store, activeRuns, worktrees, audit, now }, 'first', { actor: 'user:jo' });
        return scheduled;
      },
    });
    const { activities, activeRuns, attempts, audit, worktrees, recoveries } = await completion(cancels);
    await attempts.create(anAttempt('first', 'running', { claim }));
    await activeRuns.take(taskId, 'first');
    const lease = { leaseId: 'lease', ownerAttemptId: 'first', seconds: 60, expiresAt: '2027-01-01T00:00:00.000Z' };
    await worktrees.insert(aWorktree(taskId, { state: 'ready', lease }));

    for (let time = 1; time <= 2; time += 1) {
      expect(await activities.finish(finishing)).not.toHaveProperty('retry');
      expect(await activeRuns.holder(taskId)).toBeUndefined();
      expect((await worktrees.get(taskId))?.lease.ownerAttemptId).toBeNull();
    }
    expect(await recoveries.get('first')).toMatchObject({ state: 'cancelled', cancelledBy: 'user:jo' });
  });

  it('is refused once the attempt that follows was launched', async () => {
    const { activities, activeRuns, attempts, audit, worktrees, recoveries } = await completion();
    await attempts.create(anAttempt('first', 'running', { claim }));
    await activeRuns.take(taskId, 'first');
    expect(await activities.finish(finishing)).toMatchObject({ retry: { attemptId: 'second' } });
    await recoveries.move('first', {
      from: ['scheduled'],
      fields: { state: 'launched' },
      updatedAt: now().toISOString(),
    });
    const answer = await cancelRecovery({ recoveries, activeRuns, worktrees, audit, now }, 'first', {
      actor: 'user:jo',
    });
    expect(answer).toMatchObject({ state: 'launched' });
    expect(await activeRuns.holder(taskId)).toBe('second');
  });
});

describe('retry that is refused after its admission', () => {
  const refusal = { status: 'refused', code: 'CIRCUIT_OPEN', message: 'later', details: {} } as const;

  it.each([
    ['whose caller has no response yet', 'admitted', undefined, 'run.refused', 'refused'],
    ['that was queued', 'queued', { status: 'queued' }, 'run.failed', 'ended'],
  ] as const)(
    '%s frees the task, states the cause on its recovery, and leaves an event',
    async (_case, state, launch, kind, end) => {
      const { activities, activeRuns, attempts, recoveries, events } = await completion();
      await attempts.create(anAttempt('first', 'running', { claim }));
      await activeRuns.take(taskId, 'first');
      await activities.finish(finishing);
      await recoveries.move('first', {
        from: ['scheduled'],
        fields: { state: 'launched' },
        updatedAt: now().toISOString(),
      });
      const retry = anAttempt('second', state, { parentAttemptId: 'first', retryNumber: 1 });
      await attempts.create(launch ? ({ ...retry, launch } as AttemptRecord) : retry);

      for (let time = 1; time <= 2; time += 1) {
        await activities.abandon({ attemptId: 'second', launch: refusal });
        expect(await activeRuns.holder(taskId)).toBeUndefined();
        expect(await recoveries.get('first')).toMatchObject({
          action: 'terminal',
          state: 'exhausted',
          refusal: { code: 'CIRCUIT_OPEN', message: 'later' },
        });
        expect((await events.read('second', 0, 10)).map((event) => event.kind)).toEqual([kind]);
        expect(await attempts.get('second')).toMatchObject({ state: end });
      }
    },
  );
});

describe('task that is taken', () => {
  it('is taken over from an attempt that is over by the time it is read', async () => {
    const { activeRuns, attempts, recoveries } = await completion();
    await attempts.create(anAttempt('first', 'ended'));
    await activeRuns.take(taskId, 'first');
    const releasing = {
      ...attempts,
      async get(id: string) {
        const found = await attempts.get(id);
        await activeRuns.release(taskId, id);
        return found;
      },
    };
    const taken = await claimTask({ activeRuns, attempts: releasing, recoveries }, { taskId, _id: 'second' });
    expect(taken).toBeUndefined();
    expect(await activeRuns.holder(taskId)).toBe('second');
  });

  it('names the attempt that has it, its state and its agent', async () => {
    const { activeRuns, attempts, recoveries } = await completion();
    await attempts.create(anAttempt('first', 'queued'));
    await activeRuns.take(taskId, 'first');
    expect(await claimTask({ activeRuns, attempts, recoveries }, { taskId, _id: 'second' })).toMatchObject({
      code: 'RUN_ACTIVE',
      details: { code: 'RUN_ACTIVE', attemptId: 'first', state: 'queued', agent: 'bee' },
    });
  });
});
