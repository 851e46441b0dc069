import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { AdmissionActivities, Admitted } from '../../activities/agent-run/admission/activities';
import type { OperatorActivities } from '../../activities/agent-run/commands/operator';
import type { CompletionActivities, FinishInput } from '../../activities/agent-run/completion/activities';
import type { DispatchActivities } from '../../activities/agent-run/dispatch/activities';
import type { PrepareActivities } from '../../activities/agent-run/prepare/activities';
import type { RecoveryActivities } from '../../activities/recovery/activities';
import type { Refusal } from '../../contracts/refusal';
import type { LaunchResponse } from '../../contracts/runs/launch/launch';
import { createLog } from '../../platform/log/log';
import { ensureSearchAttributes } from '../../platform/temporal/ensure-search-attributes';
import { installRuntime } from '../../platform/temporal/runtime';
import { eventually } from '../../platform/testing/eventually';
import {
  agentRunId,
  type AgentRunInput,
  capacityReserved,
  completeUpdate,
  launchUpdate,
  launchUpdateId,
  stopUpdate,
} from '../../workflows/agent-run/messages';
import { hostQueue } from '../../workflows/queues';
import { recoveryId } from '../../workflows/recovery/messages';
import { type TestTemporal, testTemporal } from '../support/stack/temporal';
import { workflowBundle } from '../support/stack/workflow-bundle';

type Activities = AdmissionActivities &
  RecoveryActivities &
  Pick<CompletionActivities, 'announceStart' | 'finish' | 'abandon'> &
  Pick<PrepareActivities, 'prepare'> &
  Pick<OperatorActivities, 'attributeStop' | 'requireClaim'> &
  DispatchActivities;

let temporal: TestTemporal;

beforeAll(async () => {
  installRuntime(createLog({ name: 'test', level: 'error' }));
  temporal = await testTemporal();
  await ensureSearchAttributes(temporal.client.connection, temporal.namespace, {
    log: createLog({ name: 'test', level: 'silent' }),
  });
});

afterAll(() => temporal.close());

const answer = (input: AgentRunInput): LaunchResponse => ({
  taskId: input.taskId,
  attemptId: input.attemptId,
  agent: 'example',
  provider: 'process',
  status: 'running',
  startedAt: new Date().toISOString(),
  providerRuntimeManifestDigest: 'sha256:0',
  runLaunchManifestDigest: 'sha256:1',
});

const refused: Refusal = { status: 'refused', code: 'RUN_ACTIVE', message: 'busy', details: {} };

/** Runs `body` against workers with these activities; what is not given succeeds at once. */
async function withRun(
  activities: Partial<Activities>,
  body: (run: {
    input: AgentRunInput;
    launch: () => Promise<unknown>;
    finished: FinishInput[];
    calls: string[];
  }) => Promise<void>,
  options: { hostId?: string | null; timeoutMs?: number; reattach?: boolean } = {},
): Promise<void> {
  const attemptId = `attempt_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const hostId = options.hostId === undefined ? `h-${randomUUID()}` : options.hostId;
  const taskQueue = temporal.unique('board');
  const input: AgentRunInput = {
    attemptId,
    taskId: 'task_20260101_test01',
    request: {},
    actor: 'test',
    maxRetries: 1,
    timings: { runTimeoutMs: 60_000, heartbeatTimeoutMs: 1_000, retryBackoffMs: 10 },
  };
  const finished: FinishInput[] = [];
  const calls: string[] = [];
  const admitted: Admitted = {
    provider: hostId === null ? 'remote-callback' : 'process',
    agent: 'example',
    phase: 'implement',
    hostId,
    decidedAt: new Date().toISOString(),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.reattach === true ? { reattach: true } : {}),
  };
  const all: Activities = {
    admit: async () => admitted,
    prepare: async () => answer(input),
    announceStart: async () => undefined,
    dispatch: async () => undefined,
    reattach: async () => ({ claimed: false, reason: 'process-not-found' }),
    reclaim: async () => ({ claimed: false }),
    confirmDispatch: async () => ({ turn: 'go' }),
    abandon: async () => ({ endedAt: new Date().toISOString() }),
    beginRecovery: async () => true,
    cancelRecovery: async () => null,
    attributeStop: async ({ actor }) => ({ actor }),
    requireClaim: async () => undefined,
    ...activities,
    finish: async (finish) => {
      finished.push(finish);
      return activities.finish ? activities.finish(finish) : { status: 'success', endedAt: new Date().toISOString() };
    },
  };
  const traced = Object.fromEntries(
    Object.entries(all).map(([name, run]) => [
      name,
      (argument: never) => {
        calls.push(name);
        return (run as (argument: never) => Promise<unknown>)(argument);
      },
    ]),
  );
  const common = {
    connection: temporal.nativeConnection,
    namespace: temporal.namespace,
    maxHeartbeatThrottleInterval: 100,
  };
  const board = await Worker.create({ ...common, taskQueue, workflowBundle, activities: traced });
  const host = await Worker.create({
    ...common,
    taskQueue: hostQueue(hostId ?? temporal.unique('none')),
    activities: traced,
  });
  const launch = () =>
    temporal.client.workflow.executeUpdateWithStart(launchUpdate, {
      updateId: launchUpdateId,
      startWorkflowOperation: new WithStartWorkflowOperation('agentRun', {
        workflowId: agentRunId(attemptId),
        taskQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
      }),
    });
  await host.runUntil(board.runUntil(body({ input, launch, finished, calls })));
}

const handle = (input: AgentRunInput) => temporal.client.workflow.getHandle(agentRunId(input.attemptId));

/** An agent that runs until it is cancelled. */
const untilCancelled = async (): Promise<void> => {
  const beat = setInterval(() => Context.current().heartbeat(), 100);
  try {
    await Context.current().cancelled;
  } catch {
    // Cancelled: the agent has been ended, which is an ordinary end of this activity.
  } finally {
    clearInterval(beat);
  }
};

test('a run is admitted, prepared, dispatched and finished, once each and in this order', async () => {
  await withRun({}, async ({ input, launch, finished, calls }) => {
    await expect(launch()).resolves.toMatchObject({ status: 'running', attemptId: input.attemptId });
    await expect(handle(input).result()).resolves.toMatchObject({ status: 'success' });
    expect(calls.filter((name) => name !== 'announceStart')).toEqual(['admit', 'prepare', 'dispatch', 'finish']);
    expect(finished).toEqual([expect.objectContaining({ attemptId: input.attemptId, ending: { by: 'agent' } })]);
  });
});

test('a launch that is asked for twice is one run with one answer', async () => {
  await withRun({ dispatch: untilCancelled }, async ({ input, launch, calls }) => {
    const [first, second] = await Promise.all([launch(), launch()]);
    expect(second).toEqual(first);
    expect(calls.filter((name) => name === 'admit')).toHaveLength(1);
    await handle(input).executeUpdate(stopUpdate, { args: [{ attemptId: input.attemptId, actor: 'test' }] });
  });
});

test('a refused launch answers the refusal and runs nothing', async () => {
  const admit = async (): Promise<Admitted> => ({
    provider: '',
    agent: '',
    phase: '',
    hostId: null,
    decidedAt: new Date().toISOString(),
    launch: refused,
  });
  await withRun({ admit }, async ({ input, launch, calls }) => {
    await expect(launch()).resolves.toEqual(refused);
    await handle(input).result();
    expect(calls).toEqual(['admit']);
  });
});

test('a launch that cannot be prepared is abandoned, so that it holds nothing', async () => {
  await withRun({ prepare: async () => refused }, async ({ input, launch, calls }) => {
    await expect(launch()).resolves.toEqual(refused);
    await handle(input).result();
    expect(calls).toEqual(['admit', 'prepare', 'abandon']);
  });
});

describe('a queued launch', () => {
  const hostId = `h-${randomUUID()}`;
  const admit = async ({ attemptId }: AgentRunInput): Promise<Admitted> => ({
    provider: 'process',
    agent: 'example',
    phase: 'implement',
    hostId,
    decidedAt: '',
    launch: {
      status: 'queued',
      attemptId,
      taskId: 't',
      queueId: attemptId,
      agent: 'example',
      enqueuedAt: '',
      retryAfterMs: 1,
      limitingScopes: [],
    },
  });
  const steps = (calls: string[]) => calls.filter((name) => name !== 'announceStart');

  test('answers at once and is dispatched when it has capacity', async () => {
    await withRun(
      { admit },
      async ({ input, launch, calls }) => {
        await expect(launch()).resolves.toMatchObject({ status: 'queued' });
        expect(calls).toEqual(['admit']);
        await handle(input).signal(capacityReserved);
        await handle(input).result();
        expect(steps(calls)).toEqual(['admit', 'confirmDispatch', 'prepare', 'dispatch', 'finish']);
      },
      { hostId },
    );
  });

  test('continues waiting when its capacity is no longer there', async () => {
    let looks = 0;
    const confirmDispatch = async () => {
      looks += 1;
      return { turn: looks === 1 ? ('wait' as const) : ('go' as const) };
    };
    await withRun(
      { admit, confirmDispatch },
      async ({ input, launch, calls }) => {
        await launch();
        await handle(input).signal(capacityReserved);
        await eventually(() => expect(steps(calls)).toEqual(['admit', 'confirmDispatch']));
        await handle(input).signal(capacityReserved);
        await handle(input).result();
        expect(steps(calls)).toEqual(['admit', 'confirmDispatch', 'confirmDispatch', 'prepare', 'dispatch', 'finish']);
      },
      { hostId },
    );
  });

  test('is over, without a provider being called, when what it was decided on has changed', async () => {
    await withRun(
      { admit, confirmDispatch: async () => ({ turn: 'refused', launch: refused }) },
      async ({ input, launch, calls }) => {
        await launch();
        await handle(input).signal(capacityReserved);
        await expect(handle(input).result()).resolves.toMatchObject({ status: 'refused' });
        expect(steps(calls)).toEqual(['admit', 'confirmDispatch', 'abandon']);
      },
      { hostId },
    );
  });
});

test('stopping a run ends the agent first and answers with the recorded end', async () => {
  await withRun(
    { dispatch: untilCancelled, finish: async () => ({ status: 'interrupted', endedAt: '2026-01-01T00:00:00.000Z' }) },
    async ({ input, launch, finished, calls }) => {
      await launch();
      await eventually(() => expect(calls).toContain('dispatch'));
      const end = await handle(input).executeUpdate(stopUpdate, {
        args: [{ attemptId: input.attemptId, actor: 'jo' }],
      });
      expect(end).toMatchObject({ status: 'interrupted' });
      expect(finished[0]?.ending).toEqual({ by: 'stop', actor: 'jo' });
    },
  );
});

test.each([
  ['on a host', undefined, { dispatch: untilCancelled }],
  ['elsewhere', null, {}],
])('a run %s whose time is up is ended, and reports why', async (_where, hostId, activities) => {
  await withRun(
    { ...activities, finish: async () => ({ status: 'failed', endedAt: '' }) },
    async ({ input, launch, finished, calls }) => {
      await expect(launch()).resolves.toMatchObject({ status: 'running' });
      await expect(handle(input).result()).resolves.toMatchObject({ status: 'failed' });
      expect(finished[0]?.ending).toEqual({ by: 'timeout', afterMs: 400 });
      expect(calls).not.toContain('reclaim');
    },
    { hostId, timeoutMs: 400 },
  );
});

test('a run whose worker is lost when its time is up reports whether its host could be cleaned up', async () => {
  const silent = () => new Promise<void>((resolve) => setTimeout(resolve, 5_000).unref());
  await withRun(
    { dispatch: silent, finish: async () => ({ status: 'failed', endedAt: '' }) },
    async ({ input, launch, finished }) => {
      await launch();
      await handle(input).result();
      expect(finished[0]?.ending).toEqual({ by: 'timeout', afterMs: 400, hostReclaimed: true });
    },
    { timeoutMs: 400 },
  );
});

test("an operator's cancel in the Temporal UI is a stop with a recorded end", async () => {
  await withRun({ dispatch: untilCancelled }, async ({ input, launch, finished, calls }) => {
    await launch();
    await eventually(() => expect(calls).toContain('dispatch'));
    await handle(input).cancel();
    await handle(input).result();
    expect(finished[0]?.ending).toEqual({ by: 'stop', actor: 'operator:temporal' });
  });
});

test("a caller that waits for the end of a run receives it also after an operator's cancel", async () => {
  await withRun({ dispatch: untilCancelled }, async ({ input, launch, calls }) => {
    await launch();
    await eventually(() => expect(calls).toContain('dispatch'));
    const waiting = await handle(input).startUpdate(stopUpdate, {
      args: [{ attemptId: input.attemptId, actor: 'jo' }],
      waitForStage: 'ACCEPTED',
    });
    await handle(input).cancel();
    await expect(waiting.result()).resolves.toMatchObject({ attemptId: input.attemptId });
  });
});

test('a stop that names another attempt is refused', async () => {
  await withRun({ dispatch: untilCancelled }, async ({ input, launch }) => {
    await launch();
    const wrong = handle(input).executeUpdate(stopUpdate, { args: [{ attemptId: 'attempt_other000', actor: 'test' }] });
    await expect(wrong).rejects.toBeInstanceOf(WorkflowUpdateFailedError);
    await handle(input).executeUpdate(stopUpdate, { args: [{ attemptId: input.attemptId, actor: 'test' }] });
  });
});

test('a worker whose heartbeat stops is lost: its host is reclaimed and the run is retried as a new attempt', async () => {
  let dispatches = 0;
  const silent = async () => {
    dispatches += 1;
    // The first worker falls silent, as a killed one does; the retry's runs through.
    if (dispatches === 1) {
      await new Promise((resolve) => setTimeout(resolve, 5_000).unref());
    }
  };
  const retryId = `attempt_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const finish = async ({ ending }: FinishInput) =>
    ending.by === 'lost'
      ? { status: 'interrupted' as const, endedAt: '', retry: { attemptId: retryId, retryNumber: 1, backoffMs: 10 } }
      : { status: 'success' as const, endedAt: '' };
  await withRun({ dispatch: silent, finish }, async ({ input, launch, finished, calls }) => {
    await launch();
    await expect(handle(input).result()).resolves.toMatchObject({ status: 'interrupted' });
    await temporal.client.workflow.getHandle(recoveryId(input.attemptId)).result();
    await expect(temporal.client.workflow.getHandle(agentRunId(retryId)).result()).resolves.toMatchObject({
      status: 'success',
    });
    expect(calls).toContain('reclaim');
    expect(finished.map(({ attemptId, ending }) => [attemptId, ending.by])).toEqual([
      [input.attemptId, 'lost'],
      [retryId, 'agent'],
    ]);
  });
});

test('an agent that had ended before its worker was lost is not run again', async () => {
  const dispatch = () => Promise.reject(ApplicationFailure.nonRetryable('gone', 'WORKER_SHUTDOWN'));
  await withRun({ dispatch, reclaim: async () => ({ claimed: true }) }, async ({ input, launch, finished }) => {
    await launch();
    await handle(input).result();
    expect(finished.map(({ ending }) => ending.by)).toEqual(['agent']);
  });
});

describe('a run whose agent may outlive its worker', () => {
  const lost = async (): Promise<void> => {
    throw new Error('lost');
  };

  test('is resumed by the next worker, also when that one is lost', async () => {
    let tries = 0;
    const reattach = async () => {
      tries += 1;
      if (tries === 1) {
        throw new Error('lost as well');
      }
      return { claimed: true as const };
    };
    await withRun(
      { dispatch: lost, reattach },
      async ({ input, launch, finished, calls }) => {
        await launch();
        await expect(handle(input).result()).resolves.toMatchObject({ status: 'success' });
        expect(finished).toEqual([expect.objectContaining({ ending: { by: 'agent' } })]);
        expect(calls.filter((name) => ['reattach', 'reclaim'].includes(name))).toEqual(['reattach', 'reattach']);
      },
      { reattach: true },
    );
  });

  test('is reclaimed when the agent is gone, and reports why', async () => {
    await withRun(
      { dispatch: lost },
      async ({ input, launch, finished, calls }) => {
        await launch();
        await handle(input).result();
        expect(calls.filter((name) => ['reattach', 'reclaim'].includes(name))).toEqual(['reattach', 'reclaim']);
        expect(finished).toEqual([
          expect.objectContaining({
            ending: { by: 'lost', reason: expect.stringContaining('process-not-found'), hostReclaimed: true },
          }),
        ]);
      },
      { reattach: true },
    );
  });

  test('is stopped like any other while it is resumed', async () => {
    const reattach = async () => {
      await untilCancelled();
      return { claimed: true as const };
    };
    await withRun(
      { dispatch: lost, reattach },
      async ({ input, launch, finished, calls }) => {
        await launch();
        await eventually(() => expect(calls).toContain('reattach'));
        await handle(input).executeUpdate(stopUpdate, { args: [{ attemptId: input.attemptId, actor: 'test' }] });
        expect(finished).toEqual([expect.objectContaining({ ending: { by: 'stop', actor: 'test' } })]);
        expect(calls).not.toContain('reclaim');
      },
      { reattach: true },
    );
  });
});

test('a remote run waits for its callback; another claim conflicts and the same one again succeeds', async () => {
  let finishNow: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (finishNow = resolve));
  const finish = async () => {
    await gate;
    return { status: 'success' as const, endedAt: '2026-01-01T00:00:00.000Z' };
  };
  await withRun(
    { finish },
    async ({ input, launch, finished, calls }) => {
      await launch();
      const complete = (claimDigest: string) =>
        handle(input).executeUpdate(completeUpdate, { args: [{ attemptId: input.attemptId, claimDigest }] });
      const first = complete('sha256:a');
      await eventually(() => expect(calls).toContain('finish'));
      await expect(complete('sha256:b')).rejects.toMatchObject({ cause: { type: 'CONFLICTING_CLAIM' } });
      const again = await handle(input).startUpdate(completeUpdate, {
        args: [{ attemptId: input.attemptId, claimDigest: 'sha256:a' }],
        waitForStage: 'ACCEPTED',
      });
      finishNow();
      await expect(first).resolves.toMatchObject({ status: 'success' });
      await expect(again.result()).resolves.toMatchObject({ status: 'success' });
      expect(calls).not.toContain('dispatch');
      expect(finished[0]?.ending).toEqual({ by: 'callback', claimDigest: 'sha256:a' });
    },
    { hostId: null },
  );
});
