import type { Routes } from '../platform/http/routing/routes';
import type { Closer } from '../platform/processes/closers';
import { activityRoutes } from './chat/activity/routes';
import { adapterRoutes } from './chat/adapters/routes';
import { startRecordedDeliveries } from './chat/adapters/start-deliveries';
import { agentStatusRoutes } from './chat/agent-status/routes';
import { broadcastRoutes } from './chat/broadcasts/routes';
import { changeRoutes } from './chat/changes/routes';
import { notificationRoutes } from './chat/notifications/routes';
import { mentionRoutes } from './chat/notifications/routes.mentions';
import { chatRoutes } from './chat/sessions/routes';
import { squadRoutes } from './chat/squad/routes';
import type { ApiContext, Area, WorkflowContext } from './context';
import { agentPermissionRoutes } from './governance/agent-permissions/routes';
import { permissionApprovalRoutes } from './governance/agent-permissions/routes.approvals';
import { budgetRoutes } from './governance/budgets/routes';
import { ceremonyRoutes } from './governance/ceremonies/routes';
import { decisionReviewRoutes } from './governance/decision-reviews/routes';
import { decisionRoutes } from './governance/decisions/routes';
import { delegationRoutes } from './governance/delegation/routes';
import { driftRoutes } from './governance/drift/routes';
import { goalRoutes } from './governance/goals/routes';
import { policyRoutes } from './governance/policies/routes';
import { scoringRoutes } from './governance/scoring/routes';
import { toolPolicyRoutes } from './governance/tool-policies/routes';
import { governanceRoutes } from './governance/traces/routes';
import { watcherPolicyRoutes } from './governance/watcher-policies/routes';
import { deviceRoutes } from './identity/devices/routes';
import { invitationRoutes } from './identity/invitations/routes';
import { oidcRoutes } from './identity/oidc/routes';
import { authRoutes } from './identity/sessions/routes';
import { offerSetup } from './identity/sessions/setup-code';
import { tokenRoutes } from './identity/tokens/routes';
import { userRoutes } from './identity/users/routes';
import { workspaceRoutes } from './identity/workspaces/routes';
import { githubRoutes } from './integrations/github/routes';
import { issueSyncRoutes } from './integrations/issue-sync/routes';
import { mcpRoutes } from './integrations/mcp/routes';
import { toolServerRoutes } from './integrations/tool-servers/routes';
import { toolCallRoutes } from './integrations/tool-servers/routes.calls';
import { workflowToolRoutes } from './integrations/tool-servers/routes.workflow-calls';
import { trackerRoutes } from './integrations/trackers/routes';
import { costPredictionRoutes } from './knowledge/cost-prediction/routes';
import { docRoutes } from './knowledge/docs/routes';
import { docFreshnessRoutes } from './knowledge/documents/routes';
import { errorRoutes } from './knowledge/errors/routes';
import { feedbackRoutes } from './knowledge/feedback/routes';
import { lessonRoutes } from './knowledge/lessons/routes';
import { promptRoutes } from './knowledge/prompts/routes';
import { reflectionRoutes } from './knowledge/reflections/routes';
import { searchRoutes } from './knowledge/search/routes';
import { sharedResourceRoutes } from './knowledge/shared-resources/routes';
import { skillRoutes } from './knowledge/skills/routes';
import { admissionRoutes } from './runs/admission/routes';
import { approvalRoutes } from './runs/approvals/routes';
import { attemptRoutes } from './runs/attempts/routes';
import { checkpointRoutes } from './runs/checkpoints/routes';
import { runChildRoutes } from './runs/children/routes';
import { conflictRoutes } from './runs/conflicts/routes';
import { controlRoutes } from './runs/control/routes';
import { conversationRoutes } from './runs/conversation/routes';
import { diffRoutes } from './runs/diff/routes';
import { eventRoutes } from './runs/events/routes';
import { launchRoutes } from './runs/launch/routes';
import { outputArtifactRoutes } from './runs/output/routes';
import { phaseRoutes } from './runs/phases/routes';
import { recoveryRoutes } from './runs/recovery/routes';
import { reportRoutes } from './runs/reports/routes';
import { rewindRoutes } from './runs/rewind/routes';
import { scheduledDeliverableRoutes } from './runs/scheduled-deliverables/routes';
import { scheduledLaunchRoutes } from './runs/scheduled-launches/routes';
import { schedulerRoutes } from './runs/scheduler/routes';
import { toolBridgeRoutes } from './runs/tool-bridge/routes';
import { traceRoutes } from './runs/traces/routes';
import { trustRoutes } from './runs/trust/routes';
import { watchdogRoutes } from './runs/watchdog/routes';
import { workflowRoutes } from './runs/workflows/routes';
import { workflowRecommendationRoutes } from './runs/workflows/routes.recommendations';
import { workflowRunRoutes } from './runs/workflows/routes.runs';
import { worktreeRoutes } from './runs/worktrees/routes';
import { workspaceCapabilityRoutes } from './settings/capabilities/routes';
import { configRoutes } from './settings/config/routes';
import { hookRoutes } from './settings/hooks/routes';
import { watchTransitions } from './settings/hooks/transitions';
import { managedListRoutes } from './settings/lists/routes';
import { routingRoutes } from './settings/routing/routes';
import { sandboxRoutes } from './settings/sandbox/routes';
import { settingsRoutes } from './settings/settings/routes';
import { providerHealthRoutes } from './settings/settings/routes.provider-health';
import { templateRoutes } from './settings/templates/routes';
import { transitionHookRoutes } from './settings/transition-hooks/routes';
import { analyticsRoutes } from './system/analytics/routes';
import { auditRoutes } from './system/audit/routes';
import { digestRoutes } from './system/digest/routes';
import { healthRoutes } from './system/health/routes';
import { indexRoutes } from './system/index/routes';
import { maintenanceRoutes } from './system/maintenance/routes';
import { metricsRoutes } from './system/metrics/routes';
import { openApiRoutes } from './system/openapi/routes';
import { processMetricsRoutes } from './system/process-metrics/routes';
import { reportRoutes as reportPageRoutes } from './system/reports/routes';
import { retentionRoutes } from './system/retention/routes';
import { summaryRoutes } from './system/summary/routes';
import { telemetryRoutes } from './system/telemetry/routes';
import { archiveRoutes } from './tasks/archive/routes';
import { attachmentRoutes } from './tasks/attachments/routes';
import { automationRoutes } from './tasks/automation/routes';
import { backlogRoutes } from './tasks/backlog/routes';
import { demoteRoutes } from './tasks/backlog/routes.demote';
import { bulkRoutes } from './tasks/bulk/routes';
import { taskCheckpointRoutes } from './tasks/checkpoint/routes';
import { commentRoutes } from './tasks/comments/routes';
import { taskContextRoutes } from './tasks/context/routes';
import { taskDeliverableRoutes } from './tasks/deliverables/routes';
import { dependencyRoutes } from './tasks/dependencies/routes';
import { lineCommentRoutes } from './tasks/line-comments/routes';
import { lineCommentSendRoutes } from './tasks/line-comments/routes.send';
import { observationRoutes } from './tasks/observations/routes';
import { progressRoutes } from './tasks/progress/routes';
import { reviewRoutes } from './tasks/reviews/routes';
import { statusHistoryRoutes } from './tasks/status-history/routes';
import { subtaskRoutes } from './tasks/subtasks/routes';
import { taskRoutes } from './tasks/tasks/routes';
import { timeRoutes } from './tasks/time/routes';
import { verificationRoutes } from './tasks/verification/routes';
import { settleWorkProducts, workProductRoutes } from './tasks/work-products/routes';

/** The areas that start workflows or call them: runs first. They are served where there is a workflow engine. */
const workflowAreas: readonly Area<WorkflowContext>[] = [
  { routes: admissionRoutes },
  { routes: approvalRoutes },
  { routes: attemptRoutes },
  { routes: checkpointRoutes },
  { routes: runChildRoutes },
  { routes: conflictRoutes },
  { routes: controlRoutes },
  { routes: conversationRoutes },
  { routes: diffRoutes },
  { routes: eventRoutes },
  { routes: launchRoutes },
  { routes: outputArtifactRoutes },
  { routes: phaseRoutes },
  { routes: recoveryRoutes },
  { routes: reportRoutes },
  { routes: rewindRoutes },
  { routes: scheduledDeliverableRoutes },
  { routes: scheduledLaunchRoutes },
  { routes: schedulerRoutes },
  { routes: trustRoutes },
  { routes: watchdogRoutes },
  { routes: workflowRecommendationRoutes },
  { routes: workflowRoutes },
  { routes: workflowRunRoutes },
  { routes: worktreeRoutes },
  { routes: goalRoutes },
  { routes: decisionReviewRoutes },
  { routes: hookRoutes, start: watchTransitions },
  { routes: adapterRoutes, start: startRecordedDeliveries },
  { routes: githubRoutes },
  { routes: issueSyncRoutes },
  { routes: trackerRoutes },
  { routes: toolCallRoutes },
  { routes: workflowToolRoutes },
  { routes: toolBridgeRoutes },
  { routes: retentionRoutes },
  { routes: lineCommentSendRoutes },
  { routes: reviewRoutes },
];

/** The areas that need nothing but the stores and the board. */
const storeAreas: readonly Area<ApiContext>[] = [
  { routes: activityRoutes },
  { routes: agentStatusRoutes },
  { routes: broadcastRoutes },
  { routes: changeRoutes },
  { routes: notificationRoutes },
  { routes: mentionRoutes },
  { routes: chatRoutes },
  { routes: squadRoutes },
  { routes: agentPermissionRoutes },
  { routes: permissionApprovalRoutes },
  { routes: ceremonyRoutes },
  { routes: decisionRoutes },
  { routes: delegationRoutes },
  { routes: driftRoutes },
  { routes: policyRoutes },
  { routes: scoringRoutes },
  { routes: toolPolicyRoutes },
  { routes: budgetRoutes },
  { routes: governanceRoutes },
  { routes: watcherPolicyRoutes },
  { routes: deviceRoutes },
  { routes: invitationRoutes },
  { routes: tokenRoutes },
  { routes: userRoutes },
  { routes: workspaceRoutes },
  { routes: costPredictionRoutes },
  { routes: docRoutes },
  { routes: docFreshnessRoutes },
  { routes: errorRoutes },
  { routes: feedbackRoutes },
  { routes: lessonRoutes },
  { routes: promptRoutes },
  { routes: reflectionRoutes },
  { routes: searchRoutes, start: ({ search }) => search.start() },
  { routes: sharedResourceRoutes },
  { routes: skillRoutes },
  { routes: mcpRoutes },
  { routes: toolServerRoutes },
  { routes: workspaceCapabilityRoutes },
  { routes: configRoutes },
  { routes: managedListRoutes },
  { routes: routingRoutes },
  { routes: sandboxRoutes },
  { routes: settingsRoutes },
  { routes: providerHealthRoutes },
  { routes: templateRoutes },
  { routes: transitionHookRoutes },
  { routes: analyticsRoutes },
  { routes: auditRoutes },
  { routes: oidcRoutes },
  { routes: authRoutes, start: offerSetup },
  { routes: digestRoutes },
  { routes: healthRoutes },
  { routes: processMetricsRoutes },
  { routes: indexRoutes },
  { routes: maintenanceRoutes },
  { routes: metricsRoutes },
  { routes: openApiRoutes },
  { routes: reportPageRoutes },
  { routes: summaryRoutes },
  { routes: telemetryRoutes },
  { routes: traceRoutes },
  { routes: archiveRoutes },
  { routes: attachmentRoutes },
  { routes: automationRoutes },
  { routes: backlogRoutes },
  { routes: demoteRoutes },
  { routes: bulkRoutes },
  { routes: taskCheckpointRoutes },
  { routes: commentRoutes },
  { routes: taskContextRoutes },
  { routes: taskDeliverableRoutes },
  { routes: dependencyRoutes },
  { routes: lineCommentRoutes },
  { routes: observationRoutes },
  { routes: progressRoutes },
  { routes: statusHistoryRoutes },
  { routes: subtaskRoutes },
  { routes: taskRoutes },
  { routes: timeRoutes },
  { routes: verificationRoutes },
  { routes: workProductRoutes, start: settleWorkProducts },
];

/** An area with the context that it receives. */
export interface ServedArea {
  addRoutes: (routes: Routes) => void;
  /** Absent when it does nothing in the background. */
  start: (() => Promise<Closer>) | undefined;
}

const withContext = <Context>(areas: readonly Area<Context>[], context: Context): ServedArea[] =>
  areas.map(({ routes: addRoutes, start }) => ({
    addRoutes: (routes) => addRoutes(routes, context),
    start: start && (() => start(context)),
  }));

/** The areas of a workspace; those that call workflows only where there are any. */
export const servedAreas = (context: ApiContext, workflows: WorkflowContext | undefined): ServedArea[] => [
  ...(workflows ? withContext(workflowAreas, workflows) : []),
  ...withContext(storeAreas, workflows ?? context),
];
