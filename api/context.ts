import type { ApiEnvironment } from '../platform/config/part-settings';
import type { Authenticate } from '../platform/http/auth';
import type { AuthFailures } from '../platform/http/auth-failures';
import type { IdempotencyKeys } from '../platform/http/idempotency';
import type { RouteDependencies, Routes } from '../platform/http/routes';
import type { UploadFolder } from '../platform/http/upload-folder';
import type { Log } from '../platform/log/log';
import type { ActivityStore } from '../stores/activity-store';
import type { AgentConfigStore } from '../stores/agent-config-store';
import type { AgentStatusStore } from '../stores/agent-status-store';
import type { AttachmentStore } from '../stores/attachment-store';
import type { AttemptStore } from '../stores/attempt-store';
import type { AuditInput, AuditStore } from '../stores/audit-store';
import type { Board } from '../stores/board-files/types';
import type { BroadcastStore } from '../stores/broadcast-store';
import type { ChatStore } from '../stores/chat-store';
import type { Database } from '../stores/collection';
import type { FeedStore } from '../stores/feed-store';
import type { FeedbackStore } from '../stores/feedback-store';
import type { ErrorAnalysisStore } from '../stores/error-analysis-store';
import type { SharedResourceStore } from '../stores/shared-resource-store';
import type { TrackedDocumentStore } from '../stores/tracked-document-store';
import type { ReflectionStore } from '../stores/reflection-store';
import type { ScoringStore } from '../stores/scoring-store';
import type { DriftStore } from '../stores/drift-store';
import type { CostPredictionStore } from '../stores/cost-prediction-store';
import type { ManagedListStore } from '../stores/managed-list-store';
import type { NotificationStore } from '../stores/notification-store';
import type { RepositoryStore } from '../stores/repository-store';
import type { RoutingStore } from '../stores/routing-store';
import type { SquadStore } from '../stores/squad-store';
import type { TelemetryStore } from '../stores/telemetry-store';
import type { TemplateStore } from '../stores/template-store';
import type { ToolPolicyStore } from '../stores/tool-policy-store';
import type { TraceStore } from '../stores/trace-store';
import type { ProfileStore } from '../stores/profile-store';
import type { SandboxStore } from '../stores/sandbox-store';
import type { SettingsStore } from '../stores/settings-store';
import type { TaskCheckpointStore } from '../stores/task-checkpoint-store';
import type { WorkspaceCapabilityStore } from '../stores/workspace-capability-store';
import type { PermissionApprovalStore } from '../stores/permission-approval-store';
import type { AgentPermissionStore } from '../stores/agent-permission-store';
import type { RateCountStore } from '../stores/rate-count-store';
import type { PolicyStore } from '../stores/policy-store';
import type { CeremonyStore } from '../stores/ceremony-store';
import type { DecisionStore } from '../stores/decision-store';
import type { SetUpRepository } from './config/repository-setup';
import type { HealthCheck } from './health/checks';

/** What routes receive. Built once per process (`api/start.ts`); areas with more needs take a context of their own. */
export interface ApiContext {
  /** Has a host record the settings of a repository; absent until the workflow engine is there. */
  setUpRepository?: SetUpRepository;
  env: ApiEnvironment;
  log: Log;
  /** Writes down who changed what (`activity`) as it changes it. */
  board: Board;
  activity: ActivityStore;
  agents: AgentConfigStore;
  agentStatus: AgentStatusStore;
  attachments: AttachmentStore;
  attempts: AttemptStore;
  broadcasts: BroadcastStore;
  chats: ChatStore;
  /** What every replica tells its watchers. */
  feed: FeedStore;
  managedLists: ManagedListStore;
  notifications: NotificationStore;
  squad: SquadStore;
  templates: TemplateStore;
  repositories: RepositoryStore;
  routing: RoutingStore;
  workspaceCapabilities: WorkspaceCapabilityStore;
  traces: TraceStore;
  audit: AuditStore;
  /** Writes what was done to the audit log, also when its store fails now: then it is written later, and this rejects. */
  recordAudit: (done: AuditInput) => Promise<void>;
  /** What was answered to requests that came with a key. */
  idempotencyKeys: IdempotencyKeys;
  telemetry: TelemetryStore;
  feedback: FeedbackStore;
  errorAnalyses: ErrorAnalysisStore;
  sharedResources: SharedResourceStore;
  trackedDocuments: TrackedDocumentStore;
  reflections: ReflectionStore;
  scoring: ScoringStore;
  drift: DriftStore;
  costPredictions: CostPredictionStore;
  settings: SettingsStore;
  profiles: ProfileStore;
  sandboxes: SandboxStore;
  toolPolicies: ToolPolicyStore;
  decisions: DecisionStore;
  ceremonies: CeremonyStore;
  policies: PolicyStore;
  rates: RateCountStore;
  agentPermissions: AgentPermissionStore;
  permissionApprovals: PermissionApprovalStore;
  taskCheckpoints: TaskCheckpointStore;
  database: Database;
  /** Where files are kept while their request is answered. */
  uploads: UploadFolder;
  /** Also for the WebSocket upgrade, which no route sees. */
  authenticate: Authenticate;
  /** What agents prove themselves with that act in the name of their attempt. */
  attemptHandle: NonNullable<RouteDependencies['attemptHandle']>;
  /** Of HTTP and of the WebSocket together. */
  authFailures: AuthFailures;
  /** What readiness asks, by the name it is reported under. */
  checks: Record<string, HealthCheck>;
  /** When the process began to serve. */
  startedAt: Date;
}

/** Adds the routes of one area. */
export type Area = (routes: Routes, context: ApiContext) => void;
