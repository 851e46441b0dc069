import type { Client } from '@temporalio/client';
import { temporalSecurity } from '../platform/temporal/security';
import { createDeliveryStart } from '../workflows/adapter-delivery/client';
import { usualDeliveryTimings } from '../workflows/adapter-delivery/messages';
import { createAdapterRequests } from '../workflows/adapter-request/client';
import { createAgentCheck } from '../workflows/agent-check/client';
import { createRunLauncher } from '../workflows/agent-run/client';
import { runSignals } from '../workflows/agent-run/signals-client';
import { createAdmissionLauncher } from '../workflows/cancel-execution-tree/client';
import { createHostClient } from '../workflows/clients/host-client';
import { workspaceClient } from '../workflows/clients/workspace-client';
import { createReviewWake } from '../workflows/decision-review/client';
import { createTransitionStart } from '../workflows/deliver-hooks/client';
import { usualHookTimings } from '../workflows/deliver-hooks/messages';
import { createForgeCheck } from '../workflows/forge-check/client';
import { createGoalLauncher } from '../workflows/goal/client';
import { createIssueSyncLauncher } from '../workflows/issue-sync/client';
import { createPullRequestLauncher } from '../workflows/pull-request/client';
import { createRepositorySetup } from '../workflows/repository-setup/client';
import { createBranchList, createRepositoryInspection } from '../workflows/repository-view/client';
import { createRetentionPreview } from '../workflows/retention/client';
import { createReviewLauncher } from '../workflows/review-acceptance/client';
import { createApprovals } from '../workflows/run-approval/client';
import { createApprovalLauncher } from '../workflows/run-approval/decision-client';
import { createDeliverableSchedules } from '../workflows/scheduled-deliverable/client';
import { createLaunchSchedules } from '../workflows/scheduled-launch/client';
import { createWorkflowSchedules } from '../workflows/scheduled-workflow/client';
import { createPhaseLauncher } from '../workflows/temporary-authority/client';
import { createToolCaller } from '../workflows/tool-call/client';
import { createToolDiscovery } from '../workflows/tool-discovery/client';
import { createTrackerLauncher } from '../workflows/tracker-link/client';
import { createWorkflowRunClient } from '../workflows/workflow-run/client';
import { createWorkflowToolCaller } from '../workflows/workflow-tool-call/client';
import { createTrustLauncher } from '../workflows/workspace-inventory/client';
import { createRewindLauncher } from '../workflows/workspace-rewind/client';
import { createWorktreeLauncher } from '../workflows/worktree/client';
import type { ApiContext } from './context';

/**
 * Connects the workflow clients of the API with this process's client, for the workflows of one workspace; their messages are signed
 * by that workspace.
 */
export function createWorkflowClients(context: ApiContext, installation: Client) {
  const { workspaceId } = context;
  const client = workspaceClient(installation, workspaceId);
  const { approvals, attempts, env, feed, log, messageProofs: proofs, now } = context;
  const { TEMPORAL_HTTP_ADDRESS: httpAddress, TEMPORAL_NAMESPACE: namespace } = env;
  const server = httpAddress === undefined ? undefined : { httpAddress, namespace, security: temporalSecurity(env) };
  const ask = createHostClient(server, workspaceId);
  const runLauncher = createRunLauncher(client, ask, proofs);
  const hookTimings = { ...usualHookTimings, firstPauseMs: env.BOARD_RETRY_BACKOFF_MS };
  const heartbeatTimeoutMs = env.BOARD_HEARTBEAT_TIMEOUT_MS;
  return {
    runLauncher,
    runSignals: runSignals(client, proofs),
    admissionLauncher: createAdmissionLauncher(client, runLauncher, proofs),
    adapterRequests: createAdapterRequests(client),
    checkAgent: createAgentCheck(client, proofs),
    discoverTools: createToolDiscovery(client, { proofs, heartbeatTimeoutMs, now }),
    approvalLauncher: createApprovalLauncher(client, proofs),
    approvalRequests: createApprovals({ approvals, attempts, feed, client, now }),
    checkForge: createForgeCheck(client, now),
    goalLauncher: createGoalLauncher(client, log),
    issueSyncLauncher: createIssueSyncLauncher(client, { proofs, env, log }),
    deliverableSchedules: createDeliverableSchedules({ client, proofs, log }),
    launchSchedules: createLaunchSchedules(client, log),
    phaseLauncher: createPhaseLauncher(client, proofs),
    previewRetention: createRetentionPreview(client),
    reviewLauncher: createReviewLauncher({ client, proofs, heartbeatTimeoutMs }),
    pullRequestLauncher: createPullRequestLauncher({ client, proofs, heartbeatTimeoutMs }),
    rewindLauncher: createRewindLauncher(client, proofs),
    setUpRepository: createRepositorySetup(client, proofs),
    inspectRepository: createRepositoryInspection(client, proofs),
    listBranches: createBranchList(client, proofs),
    startDelivery: createDeliveryStart(client, {
      ...usualDeliveryTimings,
      firstPauseMs: env.BOARD_RETRY_BACKOFF_MS,
      heartbeatTimeoutMs,
    }),
    startTransition: createTransitionStart(client, proofs, hookTimings),
    makeToolCall: createToolCaller(client, { heartbeatTimeoutMs, workspaceId }),
    makeWorkflowToolCall: createWorkflowToolCaller(client, { heartbeatTimeoutMs, workspaceId }),
    trackerLauncher: createTrackerLauncher(client, env),
    trustLauncher: createTrustLauncher(client, proofs),
    wakeReview: createReviewWake(client, { env, log }),
    workflowRunClient: createWorkflowRunClient(client, {
      workflowRuns: context.workflowRuns,
      messageProofs: proofs,
      now,
    }),
    workflowSchedules: createWorkflowSchedules(client, log),
    worktreeLauncher: createWorktreeLauncher({ client, ask, proofs, heartbeatTimeoutMs }),
  };
}

export type WorkflowClients = ReturnType<typeof createWorkflowClients>;
