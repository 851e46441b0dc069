import { once } from 'node:events';
import { join } from 'node:path';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { AgentStops } from '../../activities/agent-run/dispatch/agent-stops';
import {
  orphaned,
  supervised,
  type SupervisionDependencies,
  supervisorOf,
  whileSupervised,
} from '../../activities/agent-run/dispatch/supervision';
import { createLog } from '../../platform/log/log';
import { identifySelf } from '../../platform/processes/identity';
import { SleepWatch } from '../../platform/processes/sleep-watch';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { AttemptMovedOnError, detachReason } from '../../providers/agents/provider';
import type { Database } from '../../stores/port/collection';
import { type AttemptRecord, type AttemptStore, createAttemptStore } from '../../stores/runs/attempt-store';
import { openSqlite } from '../../stores/sqlite/database';
import { aClaim, aCompletion, anAttempt } from '../support/factories/records';

const attemptId = 'attempt_asleep000001';
const log = createLog({ name: 'test', level: 'silent' });
const heartbeatTimeoutMs = 300;
const activityContext = (fields: object = {}): Context =>
  ({
    info: { attempt: 1, heartbeatTimeoutMs },
    cancellationSignal: new AbortController().signal,
    ...fields,
  }) as unknown as Context;
const asActivity = <T>(work: () => Promise<T>, context = activityContext()): Promise<T> =>
  asyncLocalStorage.run(context, work);

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
  await attempts.create(anAttempt(attemptId, { state: 'prepared' }));
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

  it('asks again while the stores fail, and stops nothing for that', async () => {
    let fails = 3;
    const supervise: AttemptStore['supervise'] = (...args) =>
      (fails -= 1) >= 0 ? Promise.reject(new Error('The stores are away.')) : attempts.supervise(...args);
    const asked = supervisedAfterSleep({ supervise }, async (stop, awake) => {
      await awake();
      return [fails, stop.aborted];
    });
    expect(await asked).toEqual([-1, false]);
  });

  it('asks no more once the agent is stopped', async () => {
    const supervise = () => Promise.reject(new Error('The stores are away.'));
    await supervisedAfterSleep({ supervise }, async (_, awake) => {
      deps.stops.end(attemptId);
      await expect(awake()).rejects.toThrow('The stores are away.');
    });
  });

  /** Runs the work of a supervisor that was asleep once, and whose renewals come from nothing else. */
  function supervisedAfterSleep<T>(
    stores: Pick<AttemptStore, 'supervise'>,
    work: (stop: AbortSignal, awake: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    let slept: (sleptMs: number) => void = () => undefined;
    const onSlept: SleepWatch['onSlept'] = (listener) => {
      slept = listener;
      return () => undefined;
    };
    const asleep = { ...deps, attempts: { ...attempts, ...stores }, sleep: { look: () => undefined, onSlept } };
    const hour = activityContext({ info: { heartbeatTimeoutMs: 3_600_000 } });
    return asActivity(
      () =>
        supervised(asleep, { attemptId, outlives: false }, (stop, awake) => {
          slept(5_000);
          return work(stop, awake);
        }),
      hour,
    );
  }
});

describe('the supervisor of an agent', () => {
  it.each([
    { limit: 'the heartbeat timeout', info: { heartbeatTimeoutMs }, ms: heartbeatTimeoutMs },
    { limit: 'half a minute where there is none', info: {}, ms: 30_000 },
  ])('is recorded for $limit', async ({ info, ms }) => {
    const now = new Date();
    deps.now = () => now;
    const { until } = await asActivity(async () => supervisorOf(deps), activityContext({ info }));
    expect(Date.parse(until) - now.getTime()).toBe(ms);
  });

  it.each([
    { signal: 'leaving' as const, outlives: true, reason: detachReason },
    { signal: 'stopping' as const, outlives: false, reason: expect.any(DOMException) },
  ])('ends the run of an agent when its worker is $signal (outlives: $outlives)', async ({ signal, ...expected }) => {
    const { outlives, reason } = expected;
    const ending = new AbortController();
    const run = () =>
      asActivity(() =>
        supervised({ ...deps, [signal]: ending.signal }, { attemptId, outlives }, async (stop) => {
          const before = stop.aborted;
          ending.abort();
          return [before, stop.reason];
        }),
      );
    expect(await run()).toEqual([false, reason]);
    // Of a worker that is about to end already, too.
    expect(await run()).toEqual([true, reason]);
  });

  it.each([
    { signal: 'stopping' as const, outlives: true },
    { signal: 'leaving' as const, outlives: false },
  ])('continues when its worker is $signal (outlives: $outlives)', ({ signal, outlives }) =>
    asActivity(() =>
      supervised({ ...deps, [signal]: AbortSignal.abort() }, { attemptId, outlives }, async (stop) =>
        expect(stop.aborted).toBe(false),
      ),
    ),
  );

  it.each([
    { outlives: true, hands: 'gives a detached agent to the next worker at once' },
    { outlives: false, hands: 'remains the last one of an agent that has ended' },
  ])('$hands', async ({ outlives }) => {
    const startedAt = new Date().toISOString();
    await asActivity(() => supervised(deps, { attemptId, outlives }, async () => undefined));
    const { until } = (await attempts.get(attemptId))!.supervisor!;
    expect(until > startedAt).toBe(!outlives);
  });

  it.each<{ moved: string; by: () => Promise<unknown> }>([
    { moved: 'was reclaimed', by: () => attempts.reclaim(attemptId, new Date().toISOString()) },
    { moved: 'has ended', by: () => attempts.complete(attemptId, aCompletion('done')) },
    { moved: 'was adopted by another worker', by: adoptElsewhere },
  ])('stops the agent of an attempt that $moved', async ({ by }) => {
    await asActivity(() =>
      supervised(deps, { attemptId, outlives: false }, async (stop) => {
        await by();
        await (stop.aborted || once(stop, 'abort'));
        expect(stop.reason).toBe(orphaned);
      }),
    );
  });

  async function adoptElsewhere(): Promise<void> {
    const { revision } = (await attempts.start(attemptId, { startedAt: new Date().toISOString() }))!;
    await asActivity(() => attempts.takeOver(attemptId, revision, { ...supervisorOf(deps), startTime: '1' }));
  }

  it.each([
    { activity: 'cancelled', details: { cancelRequested: true }, isOpen: true, reason: expect.any(DOMException) },
    { activity: 'without details', details: undefined, isOpen: true, reason: expect.any(DOMException) },
    { activity: 'gone while its run is open', details: { notFound: true }, isOpen: true, reason: undefined },
    { activity: 'timed out while its run is open', details: { timedOut: true }, isOpen: true, reason: undefined },
    { activity: 'gone with its run', details: { notFound: true }, isOpen: false, reason: orphaned },
    { activity: 'timed out, and its run is gone', details: { timedOut: true }, isOpen: false, reason: orphaned },
  ])('judges an activity that is $activity', async ({ details, isOpen, reason }) => {
    deps.isRunOpen = async () => isOpen;
    const cancelled = new AbortController();
    const context = activityContext({ cancellationSignal: cancelled.signal, cancellationDetails: details });
    const reasonAfter = () =>
      asActivity(
        () =>
          supervised(deps, { attemptId, outlives: false }, async (stop) => {
            cancelled.abort();
            await new Promise((resolve) => setImmediate(resolve));
            return stop.reason;
          }),
        context,
      );
    expect(await reasonAfter()).toEqual(reason);
    // Of an activity that was cancelled before it came so far, too.
    expect(await reasonAfter()).toEqual(reason);
  });
});

describe('what waits for the supervisor of an agent', () => {
  const claim = () => attempts.claim(attemptId, aClaim('done'), deps.self);
  /** The attempt as it is when the wait is over, and how often it was read meanwhile: the agent ends at the first time. */
  async function waited(fields: object | null): Promise<{ current: AttemptRecord; reads: number }> {
    const record = (await attempts.get(attemptId))!;
    const supervisor = fields === null ? undefined : { ...record.supervisor!, ...fields };
    let reads = 0;
    const get: AttemptStore['get'] = async (id) => {
      reads += 1;
      await claim();
      return attempts.get(id);
    };
    const { signal } = new AbortController();
    const current = await whileSupervised(
      { ...deps, attempts: { ...attempts, get } },
      { ...record, supervisor },
      signal,
    );
    return { current, reads };
  }
  const future = new Date(Date.now() + 3_600_000).toISOString();
  /** A container of this machine. */
  const elsewhere = { pidNamespace: 'pid:[1]', startTime: '1' };

  it.each([
    { supervisor: 'is this process', fields: { until: future } },
    { supervisor: 'is in another container, whose processes cannot be seen', fields: { until: future, ...elsewhere } },
    { supervisor: 'runs an earlier version', fields: { until: future, pidNamespace: undefined } },
  ])('waits until a claim is recorded while the supervisor $supervisor', async ({ fields }) => {
    expect(await waited(fields)).toEqual({ current: expect.objectContaining({ claim: aClaim('done') }), reads: 1 });
  });

  it.each([
    { supervisor: 'was never recorded', fields: null },
    { supervisor: 'is on another host', fields: { until: future, hostId: 'there' } },
    { supervisor: 'has not renewed its time', fields: { until: new Date(0).toISOString() } },
    { supervisor: 'is gone', fields: { until: future, startTime: '1' } },
    { supervisor: 'is gone with an earlier boot', fields: { until: future, bootId: 'earlier' } },
    {
      supervisor: 'ran an earlier version and is gone',
      fields: { until: future, pidNamespace: undefined, startTime: '1' },
    },
  ])('does not wait when the supervisor $supervisor', async ({ fields }) => {
    const { current, reads } = await waited(fields);
    expect([current.claim, reads]).toEqual([undefined, 0]);
  });

  it('does not wait when the claim is recorded', async () => {
    await claim();
    expect(await waited({ until: future })).toMatchObject({ current: { claim: aClaim('done') }, reads: 0 });
  });

  it('waits on when the attempt cannot be found for a while, and ends when its activity is cancelled', async () => {
    const cancelled = new AbortController();
    const reads: string[] = [];
    const get: AttemptStore['get'] = async (id) => {
      reads.push(id);
      if (reads.length === 2) {
        cancelled.abort();
      }
      return undefined;
    };
    const record = (await attempts.get(attemptId))!;
    deps.now = () => new Date(0);
    const waiting = whileSupervised({ ...deps, attempts: { ...attempts, get } }, record, cancelled.signal);
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(reads).toEqual([attemptId, attemptId]);
  });
});
