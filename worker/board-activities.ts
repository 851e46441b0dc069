import type { Client } from '@temporalio/client';
import { createAdmissionActivities } from '../activities/admission';
import { closeApproval, createApprovalActivities } from '../activities/approvals';
import { createAttachmentActivities } from '../activities/attachments';
import { createCommandActivities } from '../activities/commands';
import { createCompletionActivities } from '../activities/completion';
import { createHookActivities } from '../activities/hooks';
import { createOperatorActivities } from '../activities/operator';
import { createOutputArtifactActivities } from '../activities/output-artifacts';
import { createPhaseActivities } from '../activities/phases';
import { createReconcileActivities } from '../activities/reconcile-runs';
import { createRecoveryActivities } from '../activities/recovery';
import { createRewindMessageActivities } from '../activities/rewind';
import { createRecordRetentionActivities } from '../activities/retention/records';
import { createTaskRetentionActivities } from '../activities/retention/tasks';
import { createScheduledLaunchActivities } from '../activities/scheduled-launch';
import { createSchedulerActivities } from '../activities/scheduler';
import { createTreeActivities } from '../activities/tree';
import { watchRemoteRuns } from '../activities/watch-remote';
import { createWorktreePlanActivities } from '../activities/worktree/plan';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import { createWebhookSender } from '../platform/http/webhook';
import type { Board } from '../stores/board-files/board';
import { cancelRecovery } from '../stores/cancel-recovery';
import { runSignals } from './admission';
import { launchNow } from './launch-now';
import { runWorkflows } from './run-workflows';
import type { SharedDependencies } from './shared';

/** How long a receiver of a hook may take to answer. */
const webhookTimeoutMs = 10_000;

/** What is done on the board's queue: whatever needs the stores and the task files, and no host in particular. */
export function createBoardActivities(
  { stores, usual, approvals, prepare, command, taskStatus }: SharedDependencies,
  { env, client, board }: { env: WorkerEnvironment; client: Client; board: Board },
) {
  const { attempts, events, feed, log, now } = usual;
  const { claims, telemetry, outputArtifacts, phases, rewinds, watchdog } = stores;
  const onBoard = { ...usual, board };
  const signals = runSignals(client, stores.messageProofs);
  const recovery = createRecoveryActivities(usual);
  const timings = {
    runTimeoutMs: env.BOARD_RUN_TIMEOUT_MS,
    heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS,
    retryBackoffMs: env.BOARD_RETRY_BACKOFF_MS,
  };
  const onApprovals = { approvals: stores.approvals, attempts, events, feed, now };
  const keptFor = async () => (await stores.featureSettings.current()).retention;
  const withdrawApprovals = (attemptId: string) =>
    approvals.cancelOf(attemptId, (approvalId) =>
      closeApproval(onApprovals, approvalId, { decision: 'cancelled', actor: 'system:run-end' }),
    );
  return {
    ...prepare,
    ...createAdmissionActivities({ ...stores, ...onBoard }),
    ...createCommandActivities({ ...onBoard, commands: stores.commands, phases, audit: stores.audit }),
    ...createOperatorActivities({ ...stores, ...usual }),
    ...createCompletionActivities({
      ...onBoard,
      claims,
      phases,
      checkpoints: stores.checkpoints,
      traces: stores.traces,
      telemetry,
      withdrawApprovals,
      messageProofs: stores.messageProofs,
    }),
    ...createApprovalActivities({ ...onApprovals, proofs: usual.proofs, audit: stores.audit }),
    ...recovery,
    ...createReconcileActivities({
      ...onBoard,
      workflows: runWorkflows(client),
      cancelRecovery: (attemptId, actor) => cancelRecovery(usual, attemptId, { actor }),
      watchRemote: watchRemoteRuns({ ...onBoard, watchdog, command, taskStatus }),
      timings,
    }),
    ...createScheduledLaunchActivities({
      ...onBoard,
      scheduledLaunches: stores.scheduledLaunches,
      scheduledOutcomes: stores.scheduledOutcomes,
      routing: stores.routing,
      launch: launchNow(client, stores.messageProofs),
      timings,
    }),
    ...createSchedulerActivities({ ...onBoard, ...signals }),
    ...createPhaseActivities({
      phases,
      proofs: usual.proofs,
      audit: stores.audit,
      now,
      tell: (attemptId, notice) => signals.tellPhase(attemptId, notice),
    }),
    ...createTreeActivities({ ...onBoard, ...signals }),
    ...createRewindMessageActivities({ rewinds, command, now }),
    ...createWorktreePlanActivities({
      ...onBoard,
      messageProofs: stores.messageProofs,
      repositories: stores.repositories,
      hosts: stores.hosts,
    }),
    ...createOutputArtifactActivities({ outputArtifacts, attempts, log }),
    ...createHookActivities({
      hooks: stores.hooks,
      executions: stores.hookExecutions,
      proofs: usual.proofs,
      webhooks: createWebhookSender({
        secret: env.BOARD_WEBHOOK_SECRET,
        allowPrivate: env.BOARD_WEBHOOK_ALLOW_PRIVATE,
        timeoutMs: webhookTimeoutMs,
      }),
      now,
    }),
    ...createAttachmentActivities({ attachments: stores.attachments, board, log, now }),
    ...createTaskRetentionActivities({ ...onBoard, attachments: stores.attachments, settings: keptFor }),
    ...createRecordRetentionActivities({ ...usual, hosts: stores.hosts, traces: stores.traces, settings: keptFor }),
  };
}
