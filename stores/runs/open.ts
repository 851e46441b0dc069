import { localWorkspace } from '../../contracts/common';
import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import type { FeedStore } from '../system/feed-store';
import type { TelemetryStore } from '../system/telemetry-store';
import { createActiveRunStore } from './admission/active-run-store';
import { createAdmissionRequestStore } from './admission/admission-request-store';
import { createQueueStore } from './admission/queue-store';
import { createReservationStore } from './admission/reservation-store';
import { createTreeStore } from './admission/tree-store';
import { reportTreeControl } from './admission/tree-telemetry';
import { createApprovalStore } from './approval-store';
import { createAttemptHandleStore } from './attempt-handle-store';
import { createAttemptStore } from './attempt-store';
import { createCallbackSecretStore } from './callback-secret-store';
import { createClaimStore } from './claim-store';
import { createRunCommandStore } from './command-store';
import { createConversationStore } from './conversation-store';
import { createRunEventStore } from './event-store';
import { createHostManifestStore } from './hosts/host-manifest-store';
import type { HostStore } from './hosts/host-store';
import { createLaunchStore } from './launch/launch-store';
import { createScheduledLaunchStore, createScheduledOutcomeStore } from './launch/scheduled-launch-store';
import { createOutputArtifactStore } from './output-store';
import { createPhaseStore } from './phase-store';
import { createRecoveryStore } from './recovery-store';
import { createScheduledDeliverableRunStore } from './schedules/scheduled-deliverable-run-store';
import { createScheduledDeliverableStore } from './schedules/scheduled-deliverable-store';
import { createSchedulerStore } from './schedules/scheduler-store';
import { createStepTimes, type TracingSettings } from './step-times';
import { createWatchdogStore } from './watchdog-store';
import { createWorkflowRunStore } from './workflows/workflow-run-store';
import { createWorkflowStore } from './workflows/workflow-store';
import { createCheckpointStore } from './workspaces/checkpoint-store';
import { createConflictResolutionStore } from './workspaces/conflict-resolution-store';
import { createRewindStore } from './workspaces/rewind-store';
import { createTrustStore } from './workspaces/trust-store';
import { createWorktreeStore } from './workspaces/worktree-store';

/** What all workspaces have in common: the machines that execute runs, and who waits for them and uses them. */
export interface SharedRunStores {
  hosts: HostStore;
  capacity: CapacityStores;
}

export interface RunStoresOptions {
  /** Where new events of runs are announced. */
  feed: FeedStore;
  /** Where the control of execution trees is reported. */
  telemetry: TelemetryStore;
  /** The machines that execute runs. */
  hosts: HostStore;
  /** Where tracing is enabled. */
  settings: TracingSettings;
  /** How long output is retained, in milliseconds. */
  outputRetentionMs: number;
  /** A workspace besides `local`, with what it has in common with it. */
  other?: { workspaceId: string; shared: SharedRunStores } | undefined;
}

/** Queue and reservations of all workspaces, for those who assign the capacity. */
async function openCapacityStores(installation: Database) {
  const opened = (workspaceId?: string) =>
    openTogether({
      queue: createQueueStore(installation, workspaceId),
      reservations: createReservationStore(installation, workspaceId),
    });
  return {
    ...(await opened()),
    /** Those of one workspace, which know no other. */
    within: (workspaceId: string) => opened(workspaceId),
  };
}

export type CapacityStores = Awaited<ReturnType<typeof openCapacityStores>>;

/** Opens the stores of runs: who may run, what runs and what came of it. */
export async function openRunStores(
  database: Database,
  { feed, telemetry, hosts, settings, outputRetentionMs, other }: RunStoresOptions,
) {
  const capacity = other?.shared.capacity ?? (await openCapacityStores(database));
  const workspaceId = other?.workspaceId ?? localWorkspace;
  const { queue, reservations } = await capacity.within(workspaceId);
  const admission = await openTogether({
    activeRuns: createActiveRunStore(database),
    admissionRequests: createAdmissionRequestStore(database),
    trees: createTreeStore(database, reportTreeControl(telemetry)),
  });
  const attempts = await openTogether({
    approvals: createApprovalStore(database),
    attemptHandles: createAttemptHandleStore(database, { workspaceId }),
    toolBridgeHandles: createAttemptHandleStore(database, { workspaceId, kind: 'tools' }),
    attempts: createAttemptStore(database, createStepTimes({ settings })),
    callbackSecrets: createCallbackSecretStore(database),
    claims: createClaimStore(database),
    commands: createRunCommandStore(database),
    conversations: createConversationStore(database),
    events: createRunEventStore(database, feed),
    launches: createLaunchStore(database),
    outputArtifacts: createOutputArtifactStore(database, { retentionMs: outputRetentionMs }),
    phases: createPhaseStore(database),
    recoveries: createRecoveryStore(database, ({ attemptId, taskId, state, revision }) =>
      feed.append({ type: 'notice', notice: { type: 'recovery:changed', attemptId, taskId, state, revision } }),
    ),
    scheduledDeliverables: createScheduledDeliverableStore(database),
    deliverableRuns: createScheduledDeliverableRunStore(database),
    schedulerMarks: createSchedulerStore(database),
    scheduledLaunches: createScheduledLaunchStore(database),
    scheduledOutcomes: createScheduledOutcomeStore(database),
    watchdog: createWatchdogStore(database),
    workflows: createWorkflowStore(database),
    workflowRuns: createWorkflowRunStore(database, (runId, revision) =>
      feed.append({ type: 'notice', notice: { type: 'workflow-run:changed', runId, revision } }),
    ),
  });
  const workspaces = await openTogether({
    checkpoints: createCheckpointStore(database),
    conflictResolutions: createConflictResolutionStore(database),
    hostManifests: createHostManifestStore(database),
    rewinds: createRewindStore(database),
    trust: createTrustStore(database),
    worktrees: createWorktreeStore(database),
  });
  return { ...admission, capacity, hosts, queue, reservations, ...attempts, ...workspaces };
}
