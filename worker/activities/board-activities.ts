import type { Client } from '@temporalio/client';
import { createAdapterDeliveryActivities } from '../../activities/adapter-delivery/activities';
import { createAdapterRequestActivities } from '../../activities/adapter-request/activities';
import { createSchedulerActivities, type SchedulerWorkspace } from '../../activities/admission-scheduler/activities';
import { createAdmissionActivities } from '../../activities/agent-run/admission/activities';
import { createCommandActivities } from '../../activities/agent-run/commands/activities';
import { createOperatorActivities } from '../../activities/agent-run/commands/operator';
import { createCompletionActivities } from '../../activities/agent-run/completion/activities';
import { createAttachmentActivities } from '../../activities/attachment-cleanup/activities';
import { createTreeActivities } from '../../activities/cancel-execution-tree/activities';
import { createContinueRunActivities } from '../../activities/continue-run/activities';
import { planContinuation } from '../../activities/continue-run/plan';
import { createDecisionReviewActivities } from '../../activities/decision-review/activities';
import { createModelActivities } from '../../activities/decision-review/models';
import { createHookActivities } from '../../activities/deliver-hooks/activities';
import { createForgeCheckActivities } from '../../activities/forge-check/activities';
import { createGoalActivities } from '../../activities/goal/activities';
import { notifyGoal } from '../../activities/goal/run-ended';
import { createIssueSyncActivities } from '../../activities/issue-sync/activities';
import { createOutputArtifactActivities } from '../../activities/output-cleanup/activities';
import { createPullRequestActivities } from '../../activities/pull-request/activities';
import { createReconcileActivities } from '../../activities/reconcile/activities';
import { watchRemoteRuns } from '../../activities/reconcile/watch-remote';
import { createRecoveryActivities } from '../../activities/recovery/activities';
import { createRecordRetentionActivities } from '../../activities/retention/records';
import { createTaskRetentionActivities } from '../../activities/retention/tasks';
import { createReviewAcceptanceActivities } from '../../activities/review-acceptance/activities';
import { reconcileAcceptances } from '../../activities/review-acceptance/lost';
import { closeApproval, createApprovalActivities } from '../../activities/run-approval/activities';
import { createScheduledDeliverableActivities } from '../../activities/scheduled-deliverable/activities';
import { createScheduledLaunchActivities } from '../../activities/scheduled-launch/activities';
import { createScheduledWorkflowActivities } from '../../activities/scheduled-workflow/activities';
import { createAdapterConnections } from '../../activities/shared/adapter-connections';
import { createSkillScanActivities } from '../../activities/skill-scan/activities';
import { createPhaseActivities } from '../../activities/temporary-authority/activities';
import { createToolCallRecordActivities } from '../../activities/tool-call/activities';
import { createTrackerLinkActivities } from '../../activities/trackers/activities';
import { createIntrospectionActivities } from '../../activities/trackers/introspect';
import { createTrackers } from '../../activities/trackers/open-trackers';
import { createEngineActivities } from '../../activities/workflow-run/engine';
import { createStepLaunchActivities } from '../../activities/workflow-run/launch';
import { createStepToolActivities } from '../../activities/workflow-run/tools';
import { createWriteActivities } from '../../activities/workflow-run/write';
import { createWorkflowToolCallRecordActivities } from '../../activities/workflow-tool-call/activities';
import { createRewindMessageActivities } from '../../activities/workspace-rewind/activities';
import { createWorktreePlanActivities } from '../../activities/worktree/plan';
import { localWorkspace } from '../../contracts/common';
import type { WorkerEnvironment } from '../../platform/config/part-settings';
import { createWebhookSender, derivedSecret } from '../../platform/http/webhook';
import type { Models } from '../../platform/models/models';
import { programRunner } from '../../platform/processes/programs/program-runner';
import type { Board } from '../../stores/board-files/board';
import type { CompletionGate } from '../../stores/board-files/wrappers/completion-gate';
import { createDocStore } from '../../stores/knowledge/doc-store';
import { docsDirectory } from '../../stores/knowledge/docs-directory';
import { cancelRecovery } from '../../stores/runs/cancel-recovery';
import { launchNow } from '../../workflows/agent-run/launch-client';
import { runTimingsOf } from '../../workflows/agent-run/launch-options';
import { runWorkflows } from '../../workflows/agent-run/reconcile-client';
import { runSignals } from '../../workflows/agent-run/signals-client';
import { continueRun } from '../../workflows/continue-run/client';
import { lookAt } from '../../workflows/goal/client';
import { acceptanceWorkflows } from '../../workflows/review-acceptance/client';
import { createWorkflowRunClient } from '../../workflows/workflow-run/client';
import { createWorkflowToolCaller } from '../../workflows/workflow-tool-call/client';
import type { SharedDependencies } from './shared';

/** How long a receiver of a hook may take to respond. */
const webhookTimeoutMs = 10_000;

export interface BoardParts {
  env: WorkerEnvironment;
  client: Client;
  models: Models | undefined;
  board: Board;
  gate: CompletionGate;
  /** What the scheduler needs of a workspace. */
  inWorkspace: (workspaceId: string) => Promise<SchedulerWorkspace>;
}

/** Each workspace has a secret of its own, so that none can send in the name of another. */
function webhookSecretOf(
  { BOARD_WEBHOOK_SECRET: secret }: Pick<WorkerEnvironment, 'BOARD_WEBHOOK_SECRET'>,
  workspaceId: string,
): string | undefined {
  return secret === undefined || workspaceId === localWorkspace ? secret : derivedSecret(secret, workspaceId);
}

/** The activities of the board's queue: those that need the stores and the task files, and no host in particular. */
export function createBoardActivities(
  { stores, common, onHost, approvals, forges, prepare, command, taskStatus, toolServers }: SharedDependencies,
  { env, client, models, board, gate, inWorkspace }: BoardParts,
) {
  const { attempts, events, feed, log, now } = common;
  const { claims, telemetry, outputArtifacts, phases, rewinds, watchdog } = stores;
  const boardDependencies = { ...common, board };
  const signals = runSignals(client, stores.messageProofs);
  const recovery = createRecoveryActivities(common);
  const timings = runTimingsOf(env);
  const onApprovals = { approvals: stores.approvals, attempts, events, feed, now };
  const retentionSettings = async () => (await stores.settings.current()).retention;
  const accepting = { ...boardDependencies, reviews: stores.reviews, pullRequests: stores.pullRequests };
  const heartbeatTimeoutMs = env.BOARD_HEARTBEAT_TIMEOUT_MS;
  const lost = acceptanceWorkflows({ client, proofs: stores.messageProofs, heartbeatTimeoutMs });
  const reviewing = { ...common, decisionReviews: stores.decisionReviews, decisions: stores.decisions };
  const withdrawApprovals = (attemptId: string) =>
    approvals.cancelOf(attemptId, (approvalId) =>
      closeApproval(onApprovals, approvalId, { decision: 'cancelled', actor: 'system:run-end' }),
    );
  const goalSources = { goals: stores.goals, requests: stores.admissionRequests, trees: stores.trees };
  const openTrackers = createTrackers({ trackers: stores.trackers, forges });
  const launch = launchNow(client, stores.messageProofs);
  const continuing = {
    ...common,
    runContinuations: stores.runContinuations,
    requests: stores.admissionRequests,
    trees: stores.trees,
    settings: stores.settings,
    telemetry,
    conversations: stores.conversations,
    routing: stores.routing,
    traces: stores.traces,
    launch,
    timings,
  };
  const communicating = {
    ...stores,
    connections: createAdapterConnections({
      credentialSeal: stores.credentialSeal,
      environment: process.env,
      allowPrivate: env.BOARD_WEBHOOK_ALLOW_PRIVATE,
      runProgram: programRunner(),
      now,
    }),
    now,
  };
  return {
    ...prepare,
    ...createAdmissionActivities({ ...stores, ...boardDependencies }),
    ...createCommandActivities({ ...boardDependencies, commands: stores.commands, phases, audit: stores.audit }),
    ...createOperatorActivities({ ...stores, ...common }),
    ...createCompletionActivities({
      ...boardDependencies,
      claims,
      phases,
      checkpoints: stores.checkpoints,
      traces: stores.traces,
      telemetry,
      budgets: stores.budgets,
      reviews: stores.reviews,
      withdrawApprovals,
      notifyGoal: notifyGoal({ ...goalSources, lookAtGoal: (goalId) => lookAt(client, goalId) }),
      planContinuation: planContinuation({
        ...continuing,
        recoveries: stores.recoveries,
        continueRun: (attemptId) => continueRun(client, attemptId),
      }),
      messageProofs: stores.messageProofs,
    }),
    ...createToolCallRecordActivities({ ...common, calls: stores.toolCalls }),
    ...createApprovalActivities({ ...onApprovals, proofs: common.proofs, audit: stores.audit }),
    ...recovery,
    ...createReconcileActivities({
      ...boardDependencies,
      workflows: runWorkflows(client),
      cancelRecovery: (attemptId, actor) => cancelRecovery(common, attemptId, { actor }),
      reconcileAcceptances: (pageSize) => reconcileAcceptances({ ...accepting, acceptanceWorkflows: lost }, pageSize),
      requestStop: (attemptId, actor) => signals.requestStop(attemptId, actor),
      watchRemote: watchRemoteRuns({ ...boardDependencies, watchdog, command, taskStatus }),
      timings,
    }),
    ...createScheduledDeliverableActivities({
      ...boardDependencies,
      scheduledDeliverables: stores.scheduledDeliverables,
      deliverableRuns: stores.deliverableRuns,
      rules: stores.rules,
      routing: stores.routing,
      launch,
      timings,
    }),
    ...createScheduledLaunchActivities({
      ...boardDependencies,
      scheduledLaunches: stores.scheduledLaunches,
      scheduledOutcomes: stores.scheduledOutcomes,
      routing: stores.routing,
      launch,
      timings,
    }),
    ...createEngineActivities({
      workflowRuns: stores.workflowRuns,
      proofs: common.proofs,
      messageProofs: stores.messageProofs,
      now,
    }),
    ...createScheduledWorkflowActivities({
      workflows: stores.workflows,
      workflowRuns: stores.workflowRuns,
      workflowRunClient: createWorkflowRunClient(client, { ...stores, now }),
    }),
    ...createStepLaunchActivities({
      ...boardDependencies,
      workflowRuns: stores.workflowRuns,
      conversations: stores.conversations,
      rules: stores.rules,
      routing: stores.routing,
      requestStop: (attemptId, actor) => signals.requestStop(attemptId, actor),
      cancelRecovery: (attemptId, actor) => cancelRecovery(common, attemptId, { actor }),
      launch,
      timings,
    }),
    ...createWriteActivities({
      ...{ board, audit: stores.audit, workflowRuns: stores.workflowRuns, now },
      docs: createDocStore(docsDirectory(env, common.workspaceId)),
    }),
    ...createStepToolActivities({
      ...stores,
      toolDiscoverer: toolServers,
      hostId: onHost.hostId,
      makeWorkflowToolCall: createWorkflowToolCaller(client, { heartbeatTimeoutMs, workspaceId: common.workspaceId }),
      now,
    }),
    ...createWorkflowToolCallRecordActivities({ ...stores, now }),
    ...createGoalActivities({ ...continuing, goals: stores.goals }),
    ...createContinueRunActivities(continuing),
    ...createSchedulerActivities({
      ...stores.capacity,
      settings: stores.settings,
      hosts: stores.hosts,
      inWorkspace,
      log,
      now,
    }),
    ...createPhaseActivities({
      phases,
      proofs: common.proofs,
      audit: stores.audit,
      now,
      signalPhase: (attemptId, notice) => signals.signalPhase(attemptId, notice),
    }),
    ...createTreeActivities({ ...boardDependencies, ...signals }),
    ...createReviewAcceptanceActivities({ ...accepting, gate, messageProofs: stores.messageProofs }),
    ...createRewindMessageActivities({ rewinds, command, now }),
    ...createWorktreePlanActivities({
      ...boardDependencies,
      messageProofs: stores.messageProofs,
      repositories: stores.repositories,
      hosts: stores.hosts,
    }),
    ...createDecisionReviewActivities(reviewing),
    ...createModelActivities({ ...reviewing, board, profiles: stores.profiles, budgets: stores.budgets, models }),
    ...createForgeCheckActivities({ forges, now }),
    ...createPullRequestActivities({
      ...boardDependencies,
      rules: stores.rules,
      pullRequests: stores.pullRequests,
      reviews: stores.reviews,
      lineComments: stores.lineComments,
      forges,
    }),
    ...createIssueSyncActivities({
      ...boardDependencies,
      forges,
      rules: stores.rules,
      issueMappings: stores.issueMappings,
      issueSyncs: stores.issueSyncs,
      pullRequests: stores.pullRequests,
    }),
    ...createIntrospectionActivities({ openTrackers, trackers: stores.trackers, audit: stores.audit, now }),
    ...createTrackerLinkActivities({
      ...boardDependencies,
      openTrackers,
      trackers: stores.trackers,
      trackerLinks: stores.trackerLinks,
      rules: stores.rules,
      audit: stores.audit,
    }),
    ...createOutputArtifactActivities({ outputArtifacts, attempts, log }),
    ...createHookActivities({
      ...{ hooks: stores.hooks, transitionHooks: stores.transitionHooks, board },
      ...{ activity: stores.activity, notifications: stores.notifications },
      executions: stores.hookExecutions,
      rules: stores.rules,
      proofs: common.proofs,
      webhooks: createWebhookSender({
        secret: webhookSecretOf(env, common.workspaceId),
        allowPrivate: env.BOARD_WEBHOOK_ALLOW_PRIVATE,
        timeoutMs: webhookTimeoutMs,
      }),
      now,
    }),
    ...createAdapterDeliveryActivities(communicating),
    ...createAdapterRequestActivities(communicating),
    ...createAttachmentActivities({ attachments: stores.attachments, board, log, now }),
    ...createSkillScanActivities({ ...common, skills: stores.skills, skillScans: stores.skillScans }),
    ...createTaskRetentionActivities({
      ...boardDependencies,
      attachments: stores.attachments,
      settings: retentionSettings,
    }),
    ...createRecordRetentionActivities({
      ...common,
      hosts: stores.hosts,
      traces: stores.traces,
      workflowRuns: stores.workflowRuns,
      settings: retentionSettings,
    }),
  };
}
