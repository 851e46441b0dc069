import { join } from 'node:path';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { AgentStops } from '../../activities/agent-run/dispatch/agent-stops';
import {
  orphaned,
  supervised,
  type SupervisionDependencies,
  supervisorOf,
} from '../../activities/agent-run/dispatch/supervision';
import { createLog } from '../../platform/log/log';
import { identifySelf } from '../../platform/processes/identity';
import { SleepWatch } from '../../platform/processes/sleep-watch';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { AttemptMovedOnError, detachReason } from '../../providers/agents/provider';
import type { Database } from '../../stores/port/collection';
import { type AttemptRecord, type AttemptStore, createAttemptStore } from '../../stores/runs/attempt-store';
import { openSqlite } from '../../stores/sqlite/database';

const attemptId = 'attempt_asleep000001';
const log = createLog({ name: 'test', level: 'silent' });
const context = {
  info: { attempt: 1, heartbeatTimeoutMs: 300 },
  cancellationSignal: new AbortController().signal,
} as unknown as Context;
const asActivity = <T>(work: () => Promise<T>): Promise<T> => asyncLocalStorage.run(context, work);

let files: TempDir;
let database: Database;
let attempts: AttemptStore;
let deps: SupervisionDependencies;
let sleep: SleepWatch;
beforeEach(async () => {
  files = await makeTempDir('supervision');
  database = await openSqlite({ file: join(files.path, 'store.sqlite'), log });
  attempts = await createAttemptStore(database);
  sleep = new SleepWatch(100);
  deps = {
    attempts,
    hostId: 'host',
    self: await identifySelf(),
    queue: 'own',
    stops: new AgentStops(),
    leaving: new AbortController().signal,
    stopping: new AbortController().signal,
    sleep,
    isRunOpen: () => Promise.resolve(true),
    log,
    now: () => new Date(),
  };
  await attempts.create({ _id: attemptId, taskId: 'task', state: 'prepared', revision: 1 } as AttemptRecord);
  await asActivity(() => attempts.dispatch(attemptId, supervisorOf(deps)));
});
afterEach(async () => {
  sleep.close();
  await database.close();
  await files.remove();
});

/** The whole process stands still, like a stopped one: no timer of its own comes first. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe('a supervisor that was asleep', () => {
  it.each([
    { outlives: false, reason: orphaned },
    { outlives: true, reason: detachReason },
  ])('asks the stores before anything is recorded, and gives up what moved on: $reason', ({ outlives, reason }) =>
    asActivity(() =>
      supervised(deps, { attemptId, outlives }, async (stop, awake) => {
        await awake();
        const reclaimed = attempts.reclaim(attemptId, new Date().toISOString());
        await reclaimed;
        standStill(150);
        await expect(awake()).rejects.toThrow(AttemptMovedOnError);
        expect(stop.reason).toBe(reason);
      }),
    ),
  );

  it('continues with what is still its own', () =>
    asActivity(() =>
      supervised(deps, { attemptId, outlives: false }, async (stop, awake) => {
        standStill(150);
        await awake();
        expect(stop.aborted).toBe(false);
      }),
    ));
});
