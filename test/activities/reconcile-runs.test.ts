import { join } from 'node:path';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { createReconcileActivities, type ReconcileRunsDependencies } from '../../activities/reconcile/activities';
import type { AttemptState } from '../../contracts/runs/attempt';
import type { BudgetUse } from '../../domain/budgets/budget-use';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { type AttemptRecord, createAttemptStore } from '../../stores/runs/attempt-store';
import { createRecoveryStore } from '../../stores/runs/recovery-store';
import { openSqlite } from '../../stores/sqlite/database';
import type { AgentRunInput } from '../../workflows/agent-run/messages';
import { anAttempt as storedAttempt } from '../support/factories/records';

const log = createLog({ name: 'test', level: 'silent' });
let directory: TempDir;
let database: Database;
describe('run reconciliation', () => {
  beforeEach(async () => {
    directory = await makeTempDir('reconcile-runs');
    database = await openSqlite({ file: join(directory.path, 'store.sqlite'), log });
  });
  afterEach(async () => {
    await database.close();
    await directory.remove();
  });

  /** The fields of an attempt that the scan reads. */
  const anAttempt = (id: string, state: AttemptState, provider: AttemptRecord['provider'] = 'process') =>
    storedAttempt(id, { taskId: `task_${id}`, state, provider, createdAt: id });

  const aRecovery = (attemptId: string, state: 'scheduled' | 'launched') =>
    ({
      attemptId,
      taskId: `task_${attemptId}`,
      nextAttemptId: `next_${attemptId}`,
      state,
      createdAt: attemptId,
    }) as unknown as Parameters<Awaited<ReturnType<typeof createRecoveryStore>>['schedule']>[0];

  test('every run and every recovery is inspected, however many there are', async () => {
    const attempts = await createAttemptStore(database);
    const recoveries = await createRecoveryStore(database);
    const states: AttemptState[] = ['queued', 'admitted', 'prepared', 'dispatched', 'running', 'ended', 'refused'];
    for (const state of states) {
      for (const n of [1, 2, 3]) {
        await attempts.create(anAttempt(`${state}-${n}`, state));
      }
    }
    await attempts.create(anAttempt('running-far', 'running', 'remote-callback'));
    for (const n of [1, 2, 3]) {
      await recoveries.schedule(aRecovery(`failed-${n}`, 'scheduled'));
    }
    await recoveries.schedule(aRecovery('failed-before', 'launched'));

    const origin = { source: 'workflow', edge: 'root', workflow: { runId: 'run-1', stepId: 'build' } };
    await attempts.create({ ...anAttempt('admitted-step', 'admitted'), origin } as AttemptRecord);
    await attempts.exhaust('running-2', { scope: 'task' } as BudgetUse);

    const takenUp: string[] = [];
    const origins: object[] = [];
    const asked: string[] = [];
    const watched: string[] = [];
    const stopped: string[] = [];
    const deps = {
      attempts,
      recoveries,
      admission: {
        requests: { get: () => Promise.resolve(undefined) },
        queue: { isEmpty: () => Promise.resolve(true) },
      },
      workflows: {
        ofRun: (id: string) => Promise.resolve(id.endsWith('-2') ? 'open' : 'missing'),
        ofRecovery: (id: string) => {
          asked.push(id);
          return Promise.resolve('open');
        },
        adoptRun: (run: AgentRunInput) => {
          takenUp.push(run.attemptId);
          if (run.origin) {
            origins.push(run.origin);
          }
          return Promise.resolve();
        },
      },
      reconcileAcceptances: () => Promise.resolve({ looked: 2, changed: 1 }),
      requestStop: (attemptId: string) => Promise.resolve(stopped.push(attemptId) > 0),
      watchRemote: (remote: AttemptRecord[]) => Promise.resolve(void watched.push(...remote.map(({ _id }) => _id))),
      log,
      now: () => new Date(),
    } as unknown as ReconcileRunsDependencies;

    const context = { info: {}, heartbeat: () => undefined, cancellationSignal: new AbortController().signal };
    const { reconcileRuns } = createReconcileActivities(deps, 2);
    const found = await asyncLocalStorage.run(context as unknown as Context, reconcileRuns);

    const lost = states.slice(0, 5).flatMap((state) => [`${state}-1`, `${state}-3`]);
    expect(takenUp.toSorted()).toEqual([...lost, 'running-far', 'admitted-step'].toSorted());
    // It may have been lost before admission wrote down where it comes from.
    expect(origins).toEqual([origin]);
    expect(asked).toEqual(['failed-1', 'failed-2', 'failed-3']);
    expect(watched).toEqual(['running-far']);
    // Who marked it died before requesting its end.
    expect(stopped).toEqual(['running-2']);
    expect(found).toEqual({ looked: 17 + 3 + 2, runs: 12, recoveries: 0, reviews: 1 });
  });
});
