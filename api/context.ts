import type { ApiEnvironment } from '../platform/config/part-settings';
import type { Authenticate, Identify } from '../platform/http/auth/auth';
import type { AuthFailures } from '../platform/http/auth/auth-failures';
import type { UploadFolder } from '../platform/http/body/upload-folder';
import type { Routes } from '../platform/http/routing/routes';
import type { Log } from '../platform/log/log';
import type { Metrics } from '../platform/metrics/metrics';
import type { Embedder } from '../platform/models/embed';
import type { Closer } from '../platform/processes/closers';
import type { Board } from '../stores/board-files/types';
import type { SessionStores } from '../stores/identity/sessions/open';
import type { Stores } from '../stores/open-stores';
import type { Database } from '../stores/port/collection';
import type { AuditInput } from '../stores/system/audit-store';
import type { SessionTokens } from './identity/sessions/session-token';
import type { IssueSession } from './identity/sessions/sessions';
import type { InnerRequests } from './integrations/mcp/inner-requests';
import type { OpenSearch } from './knowledge/search/open';
import type { WatcherCount } from './system/feed/admission';
import type { HealthCheck } from './system/health/checks';
import type { WorkflowClients } from './workflow-clients';
import type { WorkspaceRecords } from './workspace-records';

/** What belongs to the installation, and is the same whichever workspace is served. */
export interface InstallationContext extends SessionStores {
  env: ApiEnvironment;
  log: Log;
  /** Ids and aliases of the models that reviews may ask; absent without a catalog. */
  modelNames: ReadonlySet<string> | undefined;
  /** What semantic searches ask; absent without `BOARD_SEARCH_MODEL`. */
  embedder: Embedder | undefined;
  /** Where files are stored while their request is served. */
  uploads: UploadFolder;
  /** Also for the WebSocket upgrade, which no route sees. */
  authenticate: Authenticate;
  /** The same for credentials that were presented before, which an open WebSocket goes on with. */
  identify: Identify;
  /** Signs a user in. */
  issueSession: IssueSession;
  sessionTokens: SessionTokens;
  /** Of HTTP and of the WebSocket together. */
  authFailures: AuthFailures;
  /** Of the WebSocket of this replica. */
  watchers: WatcherCount;
  /** Of all workspaces. */
  records: WorkspaceRecords;
  /** Of this process. */
  metrics: Metrics;
  /** Sends requests to this API itself, for callers of what uses several operations. */
  innerRequests: InnerRequests;
  /** The checks of readiness, by the name they are reported under. */
  checks: Record<string, HealthCheck>;
  /** When the process began to serve. */
  startedAt: Date;
  now: () => Date;
}

/** The records of one workspace. */
export interface WorkspaceContext extends Stores {
  workspaceId: string;
  /** Records who changed what (`activity`) as it changes it. */
  board: Board;
  database: Database;
  search: OpenSearch;
  /** Writes an action to the audit log, also when its store fails now: then it is written later, and this rejects. */
  recordAudit: (done: AuditInput) => Promise<void>;
}

/** What areas receive. Built once for each workspace that a process serves; each takes the part that it needs. */
export type ApiContext = InstallationContext & WorkspaceContext;

/** What the areas receive that start workflows or call them. */
export type WorkflowContext = ApiContext & WorkflowClients;

/** One kind of resource: its routes, and the work it does in the background. */
export interface Area<Context> {
  routes: (routes: Routes, context: Context) => void;
  /** Starts the work in the background; the closer ends it. */
  start?: (context: Context) => Promise<Closer>;
}
