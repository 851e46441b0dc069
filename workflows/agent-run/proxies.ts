import { ActivityCancellationType, patched, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AdmissionActivities, Admitted } from '../../activities/agent-run/admission/activities';
import type { CommandActivities, DeliveryActivities } from '../../activities/agent-run/commands/activities';
import type { OperatorActivities } from '../../activities/agent-run/commands/operator';
import type { CompletionActivities, Finished, FinishInput } from '../../activities/agent-run/completion/activities';
import type { ObservedEndActivities } from '../../activities/agent-run/completion/observed-end';
import type { DispatchActivities } from '../../activities/agent-run/dispatch/activities';
import type { PrepareActivities } from '../../activities/agent-run/prepare/activities';
import { hostQueue } from '../queues';
import type { AgentRunInput, RunTimings } from './messages';

const store = {
  // Also how long a call that died with its worker delays a run.
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
} as const;

/** Store work: short, idempotent, retried until the stores respond. */
export const admission = proxyActivities<AdmissionActivities>({ ...store, summary: 'admit the launch' });
export const completion = proxyActivities<CompletionActivities>({
  ...store,
  summary: 'record the completion',
});

/** Where a run has its store work done. */
interface StoreWork {
  /** By the worker of its workflow; runs that began with an earlier version leave it to the queue. */
  readonly storesHere: boolean;
}

/** Tried once, by the worker of the workflow. */
const here = { startToCloseTimeout: '20 seconds', retry: { maximumAttempts: 1 } } as const;
const admissionHere = proxyLocalActivities<AdmissionActivities>({ ...here, summary: 'admit the launch' });
const completionHere = proxyLocalActivities<CompletionActivities>({ ...here, summary: 'record the completion' });

/** Decides on the launch, without a round trip through the queue where the first try succeeds. */
export const admit = (run: StoreWork, input: AgentRunInput): Promise<Admitted> =>
  hereOrQueued(run, { here: () => admissionHere.admit(input), queued: () => admission.admit(input) });

/** A run that ends, as the record of its end reads it. */
interface EndingRun extends StoreWork {
  /** How many activities may report to it that it does not wait for. */
  readonly openActivities: number;
}

/**
 * Records the end, likewise. The queue does it for a run that an activity may still report to: Temporal repeats the last workflow
 * task of a workflow for an event that arrives during it, and what the worker did in that task with it.
 */
export const finish = (run: EndingRun, end: FinishInput): Promise<Finished> =>
  run.storesHere && run.openActivities > 0 && patched('queue-end-beside-activities')
    ? completion.finish(end)
    : hereOrQueued(run, { here: () => completionHere.finish(end), queued: () => completion.finish(end) });

/**
 * Does store work in the worker of the workflow, which saves two thirds of its events and a workflow task. What fails there is
 * left to the queue, whose retries cost no history, however long the stores are away; both find what an earlier try did. A message
 * to the run that arrives meanwhile is handled after it, or after four fifths of the timeout of a workflow task.
 */
async function hereOrQueued<T>(
  { storesHere }: StoreWork,
  ways: { here: () => Promise<T>; queued: () => Promise<T> },
): Promise<T> {
  if (!storesHere) {
    return ways.queued();
  }
  try {
    return await ways.here();
  } catch {
    return ways.queued();
  }
}

/** Runs inside the workflow's worker: it saves a round trip and is repeated if that worker dies. */
export const announce = proxyLocalActivities<Pick<CompletionActivities, 'announceStart'>>({
  startToCloseTimeout: '10 seconds',
});

/** Records a claim that an operator typed by hand; short, retried until the stores respond. */
export const operator = proxyLocalActivities<OperatorActivities>({ startToCloseTimeout: '10 seconds' });

/** Where a run's own work happens: its host's queue, or the workflow's own for a run without a worktree. */
const queueOf = (hostId: string | null) => (hostId === null ? {} : { taskQueue: hostQueue(hostId) });

/** Git and contract work: idempotent. A host that stays away for ten minutes ends the launch. */
export const prepareOn = (hostId: string | null, timings: RunTimings) =>
  proxyActivities<PrepareActivities>({
    ...queueOf(hostId),
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: '10 minutes',
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
    summary: 'compile the run contract',
  });

/**
 * The agent itself: never repeated, because it has side effects. Its heartbeat is how a dead worker is noticed, and
 * cancelling waits until the process group is gone.
 */
export const dispatchOn = (hostId: string | null, timings: RunTimings) =>
  proxyActivities<Pick<DispatchActivities, 'dispatch'>>({
    ...queueOf(hostId),
    startToCloseTimeout: timings.runTimeoutMs + 300_000,
    scheduleToStartTimeout: '10 minutes',
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: 1 },
    summary: 'run the agent',
  });

/**
 * Reattaches to an agent that has outlived its worker. Repeated: whichever worker of the host is lost, the next one adopts the
 * agent. Waits for the host for up to an hour; cancelling waits until the agent is gone.
 */
export const reattachOn = (hostId: string, timings: RunTimings) =>
  proxyActivities<Pick<DispatchActivities, 'reattach'>>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: timings.runTimeoutMs + 300_000,
    scheduleToStartTimeout: '1 hour',
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
    summary: 'reattach the agent',
  });

/** Inspects git when an agent elsewhere has reported: idempotent. An unavailable host delays no run's end for good. */
export const observeOn = (hostId: string, timings: RunTimings) =>
  proxyActivities<ObservedEndActivities>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: '5 minutes',
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
    summary: 'inspect the worktree',
  });

/** After a lost worker: idempotent, waits for the host for up to an hour, and for a worker that still has the agent. */
export const reclaimOn = (hostId: string | null, timings: RunTimings) =>
  proxyActivities<Pick<DispatchActivities, 'reclaim'>>({
    ...queueOf(hostId),
    startToCloseTimeout: timings.runTimeoutMs + 300_000,
    scheduleToCloseTimeout: timings.runTimeoutMs + 3_600_000,
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
    summary: 'reclaim the agent',
  });

/** Checks a command and records its outcome, while its sender waits. */
export const commands = proxyLocalActivities<Omit<CommandActivities, 'supervisorQueue'>>({
  startToCloseTimeout: '10 seconds',
});

/** Tried once: an agent without a supervisor is ended by the cancellation of its activity. */
export const supervision = proxyLocalActivities<Pick<CommandActivities, 'supervisorQueue'>>({
  startToCloseTimeout: '2 seconds',
  retry: { maximumAttempts: 1 },
});

/**
 * Handing a command over happens in the very worker process that runs the agent, on that process's own queue. Never
 * repeated: a worker that does not take it up at once is gone, and with it the agent.
 */
export const deliveryOn = (taskQueue: string, timings: RunTimings) =>
  proxyActivities<Pick<DeliveryActivities, 'deliverCommand'>>({
    taskQueue,
    scheduleToStartTimeout: '5 seconds',
    startToCloseTimeout: '20 seconds',
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    retry: { maximumAttempts: 1 },
    summary: 'deliver the command',
  });

/** Likewise, for what ends the agent. */
export const endingOn = (taskQueue: string) =>
  proxyActivities<Pick<DeliveryActivities, 'endAgent'>>({
    taskQueue,
    scheduleToStartTimeout: '5 seconds',
    startToCloseTimeout: '5 seconds',
    retry: { maximumAttempts: 1 },
    summary: 'terminate the agent',
  });
