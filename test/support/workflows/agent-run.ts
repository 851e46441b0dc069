import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { AdmissionActivities, Admitted } from '../../../activities/agent-run/admission/activities';
import type { CommandActivities, DeliveryActivities } from '../../../activities/agent-run/commands/activities';
import type { OperatorActivities } from '../../../activities/agent-run/commands/operator';
import type { CompletionActivities, FinishInput } from '../../../activities/agent-run/completion/activities';
import type { ObservedEndActivities } from '../../../activities/agent-run/completion/observed-end';
import type { DispatchActivities } from '../../../activities/agent-run/dispatch/activities';
import type { PrepareActivities } from '../../../activities/agent-run/prepare/activities';
import type { RecoveryActivities } from '../../../activities/recovery/activities';
import type { NewWorktreeActivities } from '../../../activities/worktree/create';
import type { WorktreePlanActivities } from '../../../activities/worktree/plan';
import type { WorktreeViewActivities } from '../../../activities/worktree/view';
import type { Refusal } from '../../../contracts/refusal';
import type { CommandResponse } from '../../../contracts/runs/command';
import type { LaunchResponse } from '../../../contracts/runs/launch/launch';
import type { WorktreeInspection } from '../../../contracts/runs/worktrees/worktree';
import { searchAttributes } from '../../../platform/temporal/search-attributes';
import { workflowTaskTimeout } from '../../../platform/temporal/task-timeout';
import { eventually } from '../../../platform/testing/eventually';
import {
  agentRunId,
  type AgentRunInput,
  commandUpdate,
  launchUpdate,
  launchUpdateId,
  type OrphanedRun,
  stopUpdate,
} from '../../../workflows/agent-run/messages';
import { recoveryId } from '../../../workflows/recovery/messages';
import { worktreeId } from '../../../workflows/worktree/messages';
import { newAttemptId, newTaskId } from './ids';
import { type StubbedWorkers, stubbedWorkers, Stubs } from './stubbed-workers';

export { untilCancelled } from './stubbed-workers';

export type RunActivities = AdmissionActivities &
  RecoveryActivities &
  CommandActivities &
  DeliveryActivities &
  OperatorActivities &
  ObservedEndActivities &
  Pick<CompletionActivities, 'announceStart' | 'finish' | 'abandon' | 'endOf'> &
  Pick<PrepareActivities, 'prepare'> &
  DispatchActivities &
  Pick<WorktreePlanActivities, 'planWorktree'> &
  NewWorktreeActivities &
  Pick<WorktreeViewActivities, 'inspect'>;

export interface RunOptions {
  /** Null for a run without a worktree of a host; the host of the test file when absent. */
  hostId?: string | null;
  provider?: string;
  timeoutMs?: number;
  reattach?: boolean;
  /** Waits in the queue first. */
  queued?: boolean;
  heartbeatTimeoutMs?: number;
  retry?: AgentRunInput['retry'];
}

export const endedAt = '2026-01-01T00:00:00.000Z';

export const refusedWith = (code: string): Refusal => ({
  status: 'refused',
  code,
  message: `It is ${code}.`,
  details: {},
});

export const digests = { providerRuntimeManifestDigest: 'sha256:0', runLaunchManifestDigest: 'sha256:1' };

/** An activity that fails for good, as one does whose worker is lost. */
export const lost = (): Promise<never> => Promise.reject(ApplicationFailure.nonRetryable('gone', 'WORKER_SHUTDOWN'));

/** The activities of a run that nothing goes wrong with. */
function activitiesOf(input: AgentRunInput, admitted: Admitted): RunActivities {
  const started: LaunchResponse = {
    taskId: input.taskId,
    attemptId: input.attemptId,
    agent: 'example',
    provider: 'process',
    status: 'running',
    startedAt: endedAt,
    ...digests,
  };
  return {
    admit: async () => admitted,
    prepare: async () => started,
    announceStart: async () => ['message', 'steer', 'interrupt', 'compact'],
    dispatch: async () => undefined,
    reattach: async () => ({ claimed: false, reason: 'process-not-found' }),
    reclaim: async () => ({ claimed: false }),
    confirmDispatch: async () => ({ turn: 'go' }),
    finish: async () => ({ status: 'success', endedAt }),
    abandon: async () => ({ endedAt }),
    endOf: async () => null,
    beginRecovery: async () => true,
    cancelRecovery: async () => null,
    attributeStop: async ({ actor }) => ({ actor }),
    requireClaim: async () => undefined,
    writeClaim: async () => 'sha256:operator',
    observeEnd: async () => undefined,
    acceptCommand: async ({ attemptId, commandId, type }) => ({
      outcome: { attemptId, commandId, action: type, delivered: true },
    }),
    settleCommand: async () => Promise.reject(ApplicationFailure.nonRetryable('It was delivered.')),
    phaseNotice: async () => null,
    supervisorQueue: async () => null,
    deliverCommand: async () => Promise.reject(ApplicationFailure.nonRetryable('It has an outcome.')),
    endAgent: async () => undefined,
    planWorktree: async () => ({ hostId: admitted.hostId ?? '', target: null, unfinished: null }),
    createWorktree: async () => ({ state: 'ready', inspection: { findings: [] } as unknown as WorktreeInspection }),
    inspect: async () => ({ findings: [] }) as unknown as WorktreeInspection,
  };
}

const names = Object.keys(activitiesOf({} as AgentRunInput, {} as Admitted));

/** One run with the activities of its test. */
export class StubbedRun {
  readonly stubs: Stubs;
  readonly attemptId = newAttemptId();
  readonly taskId = newTaskId();
  /** The attempt that a retry of this one is. */
  readonly retryId = newAttemptId();
  readonly input: AgentRunInput;
  /** What its admission decides. */
  readonly admitted: Admitted;
  readonly handle: WorkflowHandle;

  constructor(
    private readonly workers: StubbedWorkers,
    activities: Partial<RunActivities>,
    options: RunOptions,
  ) {
    this.input = {
      attemptId: this.attemptId,
      taskId: this.taskId,
      request: {},
      actor: 'test',
      maxRetries: 1,
      timings: { runTimeoutMs: 60_000, heartbeatTimeoutMs: options.heartbeatTimeoutMs ?? 30_000, retryBackoffMs: 10 },
      ...(options.retry === undefined ? {} : { retry: options.retry }),
    };
    const hostId = options.hostId === undefined ? workers.hostId : options.hostId;
    const queued = {
      status: 'queued' as const,
      attemptId: this.attemptId,
      taskId: this.taskId,
      queueId: this.attemptId,
      agent: 'example',
      enqueuedAt: endedAt,
      retryAfterMs: 1,
      limitingScopes: [],
    };
    this.admitted = {
      provider: options.provider ?? (hostId === null ? 'remote-callback' : 'process'),
      agent: 'example',
      phase: 'implement',
      hostId,
      decidedAt: endedAt,
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      ...(options.reattach === true ? { reattach: true } : {}),
      ...(options.queued === true ? { launch: queued } : {}),
    };
    this.stubs = new Stubs({ ...activitiesOf(this.input, this.admitted), ...activities });
    workers.use(this.stubs, [this.attemptId, this.retryId, this.taskId]);
    for (const id of [agentRunId(this.attemptId), agentRunId(this.retryId), recoveryId(this.attemptId)]) {
      workers.terminateAfterwards(id);
    }
    workers.terminateAfterwards(worktreeId(this.taskId));
    this.handle = workers.temporal.client.workflow.getHandle(agentRunId(this.attemptId));
  }

  /** Launches it as the API does; launched again, it is the same run. */
  launch(): Promise<unknown> {
    return this.workers.temporal.client.workflow.executeUpdateWithStart(launchUpdate, {
      updateId: launchUpdateId,
      startWorkflowOperation: new WithStartWorkflowOperation('agentRun', {
        workflowId: agentRunId(this.attemptId),
        taskQueue: this.workers.boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowTaskTimeout,
        args: [this.input],
      }),
    });
  }

  /** Starts it without a request to launch it, as reconciliation does with what it adopts. */
  async start(found?: { [Field in keyof OrphanedRun]?: OrphanedRun[Field] | undefined }): Promise<void> {
    const orphan: OrphanedRun = {
      next: 'end',
      terminated: false,
      dispatched: true,
      hostId: this.workers.hostId,
      agent: 'example',
      provider: 'process',
      phase: 'implement',
      launch: {
        ...digests,
        status: 'running',
        attemptId: this.attemptId,
        taskId: this.taskId,
        agent: 'example',
        provider: 'process',
        startedAt: endedAt,
      },
      ...found,
    };
    await this.workers.temporal.client.workflow.start('agentRun', {
      workflowId: agentRunId(this.attemptId),
      taskQueue: this.workers.boardQueue,
      workflowTaskTimeout,
      args: [found === undefined ? this.input : { ...this.input, found: orphan }],
    });
  }

  /** Launches it, and waits until one of its activities was called. */
  async launchUntil(activity: string): Promise<void> {
    const launch = this.launch();
    // A test that ends before the launch is decided terminates it.
    launch.catch(() => undefined);
    await this.called(activity);
  }

  /** Waits until an activity was called, so many times. */
  called(name: string, times = 1): Promise<void> {
    return eventually(() => expect(this.stubs.inputs(name).length).toBeGreaterThanOrEqual(times));
  }

  stop(actor = 'test'): Promise<unknown> {
    return this.handle.executeUpdate(stopUpdate, { args: [{ attemptId: this.attemptId, actor }] });
  }

  /** Sends a command as any client of Temporal can, with whatever fields: an interrupt of this attempt unless they differ. */
  command(fields: object = {}, updateId?: string): Promise<CommandResponse> {
    return this.handle.executeUpdate(commandUpdate, {
      args: [{ attemptId: this.attemptId, type: 'interrupt', actor: 'jo', ...fields }],
      ...(updateId === undefined ? {} : { updateId }),
    });
  }

  /** How the run ended, as it was recorded. */
  get endings(): FinishInput['ending'][] {
    return this.stubs.inputs('finish').map(({ ending }) => ending as FinishInput['ending']);
  }

  /** The activities in the order they were called. `announceStart` is left out, which is called beside `dispatch`. */
  get steps(): string[] {
    return this.stubs.names().filter((name) => name !== 'announceStart');
  }

  /** The activities that Temporal waits for a report of. */
  async openActivities(): Promise<string[]> {
    const { raw } = await this.handle.describe();
    return (raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name ?? '');
  }

  /** What operators read of it in the Temporal UI. */
  async details(): Promise<string> {
    const { currentDetails } = await this.handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    return currentDetails ?? '';
  }

  /** By what operators find it. */
  async attributes(): Promise<Record<'agent' | 'provider' | 'phase' | 'runState', unknown>> {
    const { typedSearchAttributes } = await this.handle.describe();
    const { agent, provider, phase, runState } = searchAttributes;
    return {
      agent: typedSearchAttributes.get(agent),
      provider: typedSearchAttributes.get(provider),
      phase: typedSearchAttributes.get(phase),
      runState: typedSearchAttributes.get(runState),
    };
  }
}

/** Runs with activities of their tests, on workers that the file shares. What a test does not give succeeds at once. */
export function stubbedRuns() {
  const workers = stubbedWorkers(names);
  return {
    workers,
    run: (activities: Partial<RunActivities> = {}, options: RunOptions = {}): StubbedRun =>
      new StubbedRun(workers, activities, options),
  };
}

/** The failure type that an update was rejected with; `undefined` when it was not. */
export async function rejection(update: Promise<unknown>): Promise<string | undefined> {
  try {
    await update;
    return undefined;
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof ApplicationFailure) {
      return cause.type ?? cause.message;
    }
    throw error;
  }
}
