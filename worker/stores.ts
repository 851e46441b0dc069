import type { WorkerEnvironment } from '../platform/config/part-settings';
import { createActiveRunStore } from '../stores/active-run-store';
import { createAgentConfigStore } from '../stores/agent-config-store';
import { createApprovalStore } from '../stores/approval-store';
import { createAuditStore } from '../stores/audit-store';
import { createAttemptStore } from '../stores/attempt-store';
import { createCheckpointStore } from '../stores/checkpoint-store';
import { createAttemptHandleStore } from '../stores/attempt-handle-store';
import { createClaimStore } from '../stores/claim-store';
import { createAttachmentStore } from '../stores/attachment-store';
import type { Database } from '../stores/collection';
import { createConversationStore } from '../stores/conversation-store';
import { createFeedStore } from '../stores/feed-store';
import { createHookExecutionStore, createHookStore } from '../stores/hook-store';
import { createHostManifestStore } from '../stores/host-manifest-store';
import { createHostStore } from '../stores/host-store';
import { openMessageProofs } from '../stores/message-key-store';
import { createOutputArtifactStore } from '../stores/output-artifact-store';
import { createPhaseStore } from '../stores/phase-store';
import { createProfileStore } from '../stores/profile-store';
import { createRecoveryStore } from '../stores/recovery-store';
import { createRepositoryStore } from '../stores/repository-store';
import { createRewindStore } from '../stores/rewind-store';
import { createRoutingStore } from '../stores/routing-store';
import { createRunCommandStore } from '../stores/run-command-store';
import { createRunEventStore } from '../stores/run-event-store';
import { createSandboxStore } from '../stores/sandbox-store';
import { createScheduledLaunchStore, createScheduledOutcomeStore } from '../stores/scheduled-launch-store';
import { createSettingsStore } from '../stores/settings-store';
import { createTaskCheckpointStore } from '../stores/task-checkpoint-store';
import { createTelemetryStore } from '../stores/telemetry-store';
import { createCeremonyStore } from '../stores/ceremony-store';
import { createTraceStore } from '../stores/trace-store';
import { createTrustStore } from '../stores/trust-store';
import { createWatchdogStore } from '../stores/watchdog-store';
import { createWorktreeStore } from '../stores/worktree-store';

/** Opens every kind of record that the activities of a worker read and write. */
export async function openStores(database: Database, env: WorkerEnvironment) {
  const feed = await createFeedStore(database);
  const agents = await createAgentConfigStore(database);
  const profiles = await createProfileStore(database);
  return {
    feed,
    agents,
    profiles,
    activeRuns: await createActiveRunStore(database),
    approvals: await createApprovalStore(database),
    attachments: await createAttachmentStore(database),
    attempts: await createAttemptStore(database),
    audit: await createAuditStore(database),
    checkpoints: await createCheckpointStore(database),
    claims: await createClaimStore(database),
    handles: await createAttemptHandleStore(database),
    commands: await createRunCommandStore(database),
    conversations: await createConversationStore(database),
    events: await createRunEventStore(database, feed),
    featureSettings: await createSettingsStore(database, env),
    hooks: await createHookStore(database),
    scheduledLaunches: await createScheduledLaunchStore(database),
    scheduledOutcomes: await createScheduledOutcomeStore(database),
    hookExecutions: await createHookExecutionStore(database),
    hosts: await createHostStore(database),
    manifests: await createHostManifestStore(database),
    messageProofs: await openMessageProofs(database),
    outputArtifacts: await createOutputArtifactStore(database, { retentionMs: env.BOARD_ARTIFACT_RETENTION_MS }),
    phases: await createPhaseStore(database),
    recoveries: await createRecoveryStore(database),
    repositories: await createRepositoryStore(database),
    rewinds: await createRewindStore(database),
    routing: await createRoutingStore(database, {
      agents,
      profiles: () => profiles.list(),
      maxRetries: env.BOARD_RUN_RETRIES,
    }),
    sandboxes: await createSandboxStore(database),
    taskCheckpoints: await createTaskCheckpointStore(database),
    telemetry: await createTelemetryStore(database),
    traces: await createTraceStore(database),
    ceremonies: await createCeremonyStore(database),
    trust: await createTrustStore(database),
    watchdog: await createWatchdogStore(database),
    worktrees: await createWorktreeStore(database),
  };
}

export type WorkerStores = Awaited<ReturnType<typeof openStores>>;
