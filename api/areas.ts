import { agentStatusRoutes } from './agent-status/routes';
import { statusHistoryRoutes } from './status-history/routes';
import { squadRoutes } from './squad/routes';
import { chatRoutes } from './chat/routes';
import { activityRoutes } from './activity/routes';
import { broadcastRoutes } from './broadcasts/routes';
import { notificationRoutes } from './notifications/routes';
import { mentionRoutes } from './notifications/routes.mentions';
import { changeRoutes } from './changes/routes';
import { auditRoutes } from './audit/routes';
import { archiveRoutes } from './archive/routes';
import { attachmentRoutes } from './attachments/routes';
import { authRoutes } from './auth/routes';
import { backlogRoutes } from './backlog/routes';
import { demoteRoutes } from './backlog/routes.demote';
import { bulkRoutes } from './bulk/routes';
import { commentRoutes } from './comments/routes';
import { configRoutes } from './config/routes';
import type { Area } from './context';
import { dependencyRoutes } from './dependencies/routes';
import { feedbackRoutes } from './feedback/routes';
import { errorRoutes } from './errors/routes';
import { sharedResourceRoutes } from './shared-resources/routes';
import { docFreshnessRoutes } from './doc-freshness/routes';
import { reflectionRoutes } from './reflections/routes';
import { lessonRoutes } from './lessons/routes';
import { scoringRoutes } from './scoring/routes';
import { driftRoutes } from './drift/routes';
import { costPredictionRoutes } from './cost-prediction/routes';
import { governanceRoutes } from './governance/routes';
import { healthRoutes } from './health/routes';
import { observationRoutes } from './observations/routes';
import { managedListRoutes } from './managed-lists/routes';
import { openApiRoutes } from './openapi/routes';
import { progressRoutes } from './progress/routes';
import { routingRoutes } from './routing/routes';
import { sandboxRoutes } from './sandbox/routes';
import { settingsRoutes } from './settings/routes';
import { subtaskRoutes } from './subtasks/routes';
import { taskCheckpointRoutes } from './task-checkpoint/routes';
import { taskContextRoutes } from './task-context/routes';
import { taskDeliverableRoutes } from './task-deliverables/routes';
import { taskRoutes } from './tasks/routes';
import { timeRoutes } from './time/routes';
import { watcherPolicyRoutes } from './watcher-policies/routes';
import { workspaceCapabilityRoutes } from './workspace-capabilities/routes';
import { templateRoutes } from './templates/routes';
import { telemetryRoutes } from './telemetry/routes';
import { permissionApprovalRoutes } from './agent-permissions/routes.approvals';
import { agentPermissionRoutes } from './agent-permissions/routes';
import { policyRoutes } from './policies/routes';
import { ceremonyRoutes } from './ceremonies/routes';
import { decisionRoutes } from './decisions/routes';
import { toolPolicyRoutes } from './tool-policies/routes';
import { verificationRoutes } from './verification/routes';

/** The areas that need nothing but the stores and the board: the map of this part of the API. */
export const coreAreas: Area[] = [
  healthRoutes,
  authRoutes,
  taskRoutes,
  archiveRoutes,
  backlogRoutes,
  demoteRoutes,
  bulkRoutes,
  dependencyRoutes,
  timeRoutes,
  commentRoutes,
  subtaskRoutes,
  verificationRoutes,
  taskDeliverableRoutes,
  observationRoutes,
  progressRoutes,
  taskCheckpointRoutes,
  taskContextRoutes,
  attachmentRoutes,
  managedListRoutes,
  templateRoutes,
  configRoutes,
  settingsRoutes,
  governanceRoutes,
  auditRoutes,
  routingRoutes,
  workspaceCapabilityRoutes,
  sandboxRoutes,
  toolPolicyRoutes,
  watcherPolicyRoutes,
  decisionRoutes,
  ceremonyRoutes,
  policyRoutes,
  agentPermissionRoutes,
  permissionApprovalRoutes,
  telemetryRoutes,
  agentStatusRoutes,
  statusHistoryRoutes,
  squadRoutes,
  chatRoutes,
  activityRoutes,
  broadcastRoutes,
  notificationRoutes,
  mentionRoutes,
  changeRoutes,
  feedbackRoutes,
  errorRoutes,
  sharedResourceRoutes,
  docFreshnessRoutes,
  reflectionRoutes,
  lessonRoutes,
  scoringRoutes,
  driftRoutes,
  costPredictionRoutes,
  openApiRoutes,
];
