import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AdmissionActivities } from '../../activities/admission';
import type { CommandActivities, DeliveryActivities } from '../../activities/commands';
import type { CompletionActivities } from '../../activities/completion';
import type { DispatchActivities } from '../../activities/dispatch';
import type { ObservedEndActivities } from '../../activities/observed-end';
import type { OperatorActivities } from '../../activities/operator';
import type { PrepareActivities } from '../../activities/prepare';
import { hostQueue } from '../queues';
import type { RunTimings } from './messages';

const store = {
  // Also how long a call that died with its worker holds a run up.
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
} as const;

/** Store work: short, idempotent, repeated until the stores answer. */
export const admission = proxyActivities<AdmissionActivities>({ ...store, summary: 'admit' });
export const completion = proxyActivities<CompletionActivities>({
  ...store,
  summary: 'record the end',
});
/** Runs inside the workflow's worker: it saves a round trip and is repeated if that worker dies. */
export const announce = proxyLocalActivities<Pick<CompletionActivities, 'announceStart'>>({
  startToCloseTimeout: '10 seconds',
});

/** Writes down what an operator says by hand; short, repeated until the stores answer. */
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
    summary: 'compile the contract',
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
 * Going on with an agent that has outlived its worker. Repeated: whichever worker of the host is lost, the next one takes
 * the agent up. Waits for the host for up to an hour; cancelling waits until the agent is gone.
 */
export const reattachOn = (hostId: string, timings: RunTimings) =>
  proxyActivities<Pick<DispatchActivities, 'reattach'>>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: timings.runTimeoutMs + 300_000,
    scheduleToStartTimeout: '1 hour',
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
    summary: 'go on with the agent',
  });

/** A look at git when an agent elsewhere has reported: idempotent. A host that stays away keeps no run from its end. */
export const observeOn = (hostId: string, timings: RunTimings) =>
  proxyActivities<ObservedEndActivities>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: '5 minutes',
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
    summary: 'look at the worktree',
  });

/** After a lost worker: idempotent, waits for the host for up to an hour, and for a worker that still has the agent. */
export const reclaimOn = (hostId: string | null, timings: RunTimings) =>
  proxyActivities<Pick<DispatchActivities, 'reclaim'>>({
    ...queueOf(hostId),
    startToCloseTimeout: timings.runTimeoutMs + 300_000,
    scheduleToCloseTimeout: timings.runTimeoutMs + 3_600_000,
    heartbeatTimeout: timings.heartbeatTimeoutMs,
    retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
    summary: 'reclaim the host',
  });

/** Checking a command and recording what became of it: someone waits for the answer. */
export const commands = proxyLocalActivities<Omit<CommandActivities, 'supervisorQueue'>>({
  startToCloseTimeout: '10 seconds',
});

/** Asked once: an agent whose supervisor is not found is ended by the cancellation of its activity. */
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
    summary: 'hand over a command',
  });

/** Likewise, for what ends the agent. */
export const endingOn = (taskQueue: string) =>
  proxyActivities<Pick<DeliveryActivities, 'endAgent'>>({
    taskQueue,
    scheduleToStartTimeout: '5 seconds',
    startToCloseTimeout: '5 seconds',
    retry: { maximumAttempts: 1 },
    summary: 'end the agent',
  });
