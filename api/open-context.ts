import { join } from 'node:path';
import type { ApiEnvironment } from '../platform/config/part-settings';
import { openUploadFolder } from '../platform/http/upload-folder';
import type { Log } from '../platform/log/log';
import { operationBytes } from '../platform/operations/operation';
import { createOwedWrites } from '../platform/operations/owed-writes';
import { openDataDirectory } from '../platform/processes/data-directory';
import { createActivityStore } from '../stores/activity-store';
import { createAgentConfigStore } from '../stores/agent-config-store';
import { createAgentStatusStore } from '../stores/agent-status-store';
import { createAttachmentStore } from '../stores/attachment-store';
import { createAdmissionRequestStore } from '../stores/admission-request-store';
import { createAttemptHandleStore } from '../stores/attempt-handle-store';
import { createAttemptStore } from '../stores/attempt-store';
import { createAuditStore } from '../stores/audit-store';
import { createCompletionGate } from '../runs/ceremonies/completion-gate';
import { gatedBoard } from '../stores/board-files/gated-board';
import { branchedBoard } from '../stores/board-files/branched-board';
import { createBoard } from '../stores/board-files/board';
import { recordedBoard } from '../stores/board-files/recorded-board';
import { createBroadcastStore } from '../stores/broadcast-store';
import { createChatStore } from '../stores/chat-store';
import { createFeedStore } from '../stores/feed-store';
import { openDatabase, storeOptions } from '../stores/open';
import { openBoardHome } from '../stores/board-home';
import { createFeedbackStore } from '../stores/feedback-store';
import { createErrorAnalysisStore } from '../stores/error-analysis-store';
import { createSharedResourceStore } from '../stores/shared-resource-store';
import { createTrackedDocumentStore } from '../stores/tracked-document-store';
import { createReflectionStore } from '../stores/reflection-store';
import { createScoringStore } from '../stores/scoring-store';
import { createDriftStore } from '../stores/drift-store';
import { createCostPredictionStore } from '../stores/cost-prediction-store';
import { createIdempotencyKeyStore } from '../stores/idempotency-key-store';
import { createManagedListStore } from '../stores/managed-list-store';
import { createNotificationStore } from '../stores/notification-store';
import { createProfileStore } from '../stores/profile-store';
import { createRepositoryStore } from '../stores/repository-store';
import { createRoutingStore } from '../stores/routing-store';
import { createSandboxStore } from '../stores/sandbox-store';
import { createSettingsStore } from '../stores/settings-store';
import { createSquadStore } from '../stores/squad-store';
import { createTaskCheckpointStore } from '../stores/task-checkpoint-store';
import { createTelemetryStore } from '../stores/telemetry-store';
import { createTemplateStore } from '../stores/template-store';
import { createToolPolicyStore } from '../stores/tool-policy-store';
import { createTraceStore } from '../stores/trace-store';
import { createWorkspaceCapabilityStore } from '../stores/workspace-capability-store';
import { createPermissionApprovalStore } from '../stores/permission-approval-store';
import { createAgentPermissionStore } from '../stores/agent-permission-store';
import { createRateCountStore } from '../stores/rate-count-store';
import { createPolicyStore } from '../stores/policy-store';
import { createCeremonyStore } from '../stores/ceremony-store';
import { createDecisionStore } from '../stores/decision-store';
import { auditedAuthFailures } from './auth/failures';
import { attemptHandleAuthenticator } from './run-children/authenticate';
import { authenticatorOf } from './authenticator';
import type { Closer } from './closers';
import type { ApiContext } from './context';
import { createChangeRecorder } from './activity/recorder';
import { diskCheck, memoryCheck, storageCheck } from './health/checks';

/** Opens the stores and the board; what was opened is left to the closers, also when a later part cannot be. */
export async function openContext(env: ApiEnvironment, log: Log, closers: Closer[]): Promise<ApiContext> {
  await openDataDirectory(env.BOARD_DATA_DIR, log);
  const database = await openDatabase({ ...storeOptions(env), dataDir: env.BOARD_DATA_DIR, log });
  closers.push(() => database.close());
  const home = await openBoardHome(database, { dataDir: env.BOARD_DATA_DIR, shared: env.MONGODB_URL !== undefined });
  await home.claim();
  const files = await createBoard({ dir: join(env.BOARD_DATA_DIR, 'tasks'), log });
  closers.push(() => files.close());
  const owed = createOwedWrites(log);
  closers.push(() => owed.close());
  const activity = await createActivityStore(database);
  const notifications = await createNotificationStore(database);
  const agents = await createAgentConfigStore(database);
  const profiles = await createProfileStore(database);
  const audit = await createAuditStore(database);
  const settings = await createSettingsStore(database, env);
  const traces = await createTraceStore(database);
  const ceremonies = await createCeremonyStore(database);
  const repositories = await createRepositoryStore(database);
  const attempts = await createAttemptStore(database);
  const governed = gatedBoard(
    branchedBoard(files, repositories),
    createCompletionGate({ ceremonies, traces, settings }),
  );
  return {
    env,
    log,
    board: recordedBoard(governed, createChangeRecorder({ activity, notifications, owed })),
    database,
    activity,
    notifications,
    agents,
    agentStatus: await createAgentStatusStore(database),
    attempts,
    broadcasts: await createBroadcastStore(database),
    chats: await createChatStore(database),
    feed: await createFeedStore(database),
    squad: await createSquadStore(database),
    attachments: await createAttachmentStore(database),
    managedLists: await createManagedListStore(database),
    templates: await createTemplateStore(database),
    repositories,
    routing: await createRoutingStore(database, {
      agents,
      profiles: () => profiles.list(),
      maxRetries: env.BOARD_RUN_RETRIES,
    }),
    workspaceCapabilities: await createWorkspaceCapabilityStore(database),
    traces,
    audit,
    recordAudit: (done) => {
      // The same however often it is written: by a repetition of the request, or once the store can be written again.
      const once = operationBytes('audit', 16).toString('hex');
      return owed.write(`audit of ${done.action}`, () => audit.record({ once, ...done }));
    },
    idempotencyKeys: await createIdempotencyKeyStore(database),
    telemetry: await createTelemetryStore(database),
    feedback: await createFeedbackStore(database),
    errorAnalyses: await createErrorAnalysisStore(database),
    sharedResources: await createSharedResourceStore(database),
    trackedDocuments: await createTrackedDocumentStore(database),
    reflections: await createReflectionStore(database),
    scoring: await createScoringStore(database),
    drift: await createDriftStore(database),
    costPredictions: await createCostPredictionStore(database),
    settings,
    profiles,
    sandboxes: await createSandboxStore(database),
    toolPolicies: await createToolPolicyStore(database),
    decisions: await createDecisionStore(database),
    ceremonies,
    policies: await createPolicyStore(database),
    rates: await createRateCountStore(database),
    agentPermissions: await createAgentPermissionStore(database),
    permissionApprovals: await createPermissionApprovalStore(database),
    taskCheckpoints: await createTaskCheckpointStore(database),
    uploads: await openUploadFolder(join(env.BOARD_DATA_DIR, 'uploads')),
    authenticate: authenticatorOf(env),
    attemptHandle: attemptHandleAuthenticator({
      attempts,
      handles: await createAttemptHandleStore(database),
      requests: await createAdmissionRequestStore(database),
    }),
    authFailures: auditedAuthFailures(env, audit, log),
    checks: {
      storage: storageCheck(database),
      memory: memoryCheck(),
      disk: diskCheck(env.BOARD_DATA_DIR, env.BOARD_DISK_MIN_FREE_MB),
    },
    startedAt: new Date(),
  };
}
