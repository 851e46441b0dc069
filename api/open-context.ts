import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { localWorkspace } from '../contracts/common';
import { type ApiEnvironment, isEmbeddingKey } from '../platform/config/part-settings';
import { errorMessage } from '../platform/errors/app-error';
import { authenticateWith } from '../platform/http/auth/auth';
import { openUploadFolder } from '../platform/http/body/upload-folder';
import { callerAddressBehind } from '../platform/http/limits/caller-address';
import type { Log } from '../platform/log/log';
import { createMetrics, type Metrics } from '../platform/metrics/metrics';
import { measureProcess } from '../platform/metrics/process-figures';
import { CatalogError, namesOf, readCatalog } from '../platform/models/catalog';
import { createEmbedder, type Embedder } from '../platform/models/embed';
import { operationBytes } from '../platform/operations/operation';
import { createOwedWrites, type OwedWrites } from '../platform/operations/owed-writes';
import type { Closer } from '../platform/processes/closers';
import { openDataDirectory, workspaceDirectory } from '../platform/processes/data-directory';
import { createBoard } from '../stores/board-files/board';
import type { Board } from '../stores/board-files/types';
import { branchedBoard } from '../stores/board-files/wrappers/branched-board';
import { createCompletionGate } from '../stores/board-files/wrappers/completion-gate';
import { delegatedBoard } from '../stores/board-files/wrappers/delegated-board';
import { gatedBoard } from '../stores/board-files/wrappers/gated-board';
import { recordedBoard } from '../stores/board-files/wrappers/recorded-board';
import { ruledBoard } from '../stores/board-files/wrappers/ruled-board';
import { transitionBoard } from '../stores/board-files/wrappers/transition-board';
import { openSessionStores, type SessionStores } from '../stores/identity/sessions/open';
import { docsDirectory } from '../stores/knowledge/docs-directory';
import { openStores, type SharedStores, type Stores } from '../stores/open-stores';
import type { Database } from '../stores/port/collection';
import { openDatabase, storeOptions } from '../stores/port/open';
import { withoutWorkspacePrefix, workspaceDatabase } from '../stores/port/workspace-database';
import { measuredDatabase, type RecordOperation } from '../stores/port/wrappers/measured-database';
import { openBoardHome } from '../stores/system/board-home';
import { identifierOf } from './authenticator';
import { createChangeRecorder } from './chat/activity/recorder';
import type { ApiContext, InstallationContext, WorkspaceContext } from './context';
import { createDelegationRecorder } from './governance/delegation/recorder';
import { usesSecureCookies } from './identity/sessions/cookie';
import { auditedAuthFailures } from './identity/sessions/failures';
import { createSessionTokens } from './identity/sessions/session-token';
import { createSessions } from './identity/sessions/sessions';
import { sessionStanding } from './identity/sessions/standing';
import { deviceVerifier, tokenVerifier } from './identity/verifiers';
import { InnerRequests } from './integrations/mcp/inner-requests';
import { openSearch } from './knowledge/search/open';
import { WatcherCount } from './system/feed/admission';
import { diskCheck, gitCheck, memoryCheck, storageCheck, temporalCheck } from './system/health/checks';
import { WorkspaceRecords } from './workspace-records';

export interface ContextSources {
  env: ApiEnvironment;
  log: Log;
  /** Of the Temporal server; without one readiness does not check it. */
  client: Client | undefined;
}

/**
 * Opens what belongs to the installation, and the stores and the board of the workspace `local`; what was opened is left to the
 * closers, also when a later part cannot be.
 */
export async function openContext({ env, log, client }: ContextSources, closers: Closer[]): Promise<ApiContext> {
  await openDataDirectory(env.BOARD_DATA_DIR, log);
  const startedAt = new Date();
  const metrics = createMetrics((name, error) => log.warn({ name, error: errorMessage(error) }, 'metric not readable'));
  closers.push(measureProcess(metrics, startedAt));
  const database = measuredDatabase(
    await openDatabase({ ...storeOptions(env), dataDir: env.BOARD_DATA_DIR, log }),
    storeDurations(metrics),
  );
  closers.push(() => database.close());
  const home = await openBoardHome(database, { dataDir: env.BOARD_DATA_DIR, shared: env.MONGODB_URL !== undefined });
  await home.claim();
  const sessionStores = await openSessionStores(database);
  const { embedder, modelNames } = await openModels(env);
  const local = await openRecords({ env, log, database, workspaceId: localWorkspace, embedder }, closers);
  return {
    ...local,
    ...sessionStores,
    ...signingIn({ env, log, ...local, ...sessionStores }),
    env,
    log,
    embedder,
    modelNames,
    uploads: await openUploadFolder(join(env.BOARD_DATA_DIR, 'uploads')),
    records: new WorkspaceRecords(),
    innerRequests: new InnerRequests(),
    metrics,
    authFailures: auditedAuthFailures(env, local.audit, log),
    watchers: new WatcherCount({
      maxWatchers: env.BOARD_MAX_WATCHERS,
      maxWatchersPerAddress: env.BOARD_WATCHERS_PER_ADDRESS,
    }),
    checks: { ...healthChecks(env, database, client), git: gitCheck(local.hosts) },
    startedAt,
    now: () => new Date(),
  };
}

/** Measures the operations of the stores, by the name of the collection that all workspaces have in common. */
function storeDurations(metrics: Metrics): RecordOperation {
  const record = metrics.duration('runboard.store.operation', 'Operations of the stores, with their wait for the disk');
  return (ms, { collection, ...operation }) =>
    record(ms, { collection: withoutWorkspacePrefix(collection), ...operation });
}

/** The context of another workspace: the installation is the same, and every record is its own. */
export async function openWorkspaceContext(
  local: ApiContext,
  workspaceId: string,
  closers: Closer[],
): Promise<ApiContext> {
  const { env, log, embedder } = local;
  const database = workspaceDatabase(local.database, workspaceId);
  // Every part of a workspace's context is replaced; what is left is the installation's.
  const records: WorkspaceContext = await openRecords(
    { env, log, database, workspaceId, embedder, shared: local },
    closers,
  );
  return { ...local, ...records };
}

interface RecordSources {
  env: ApiEnvironment;
  log: Log;
  database: Database;
  workspaceId: string;
  embedder: Embedder | undefined;
  /** Of `local`, for another workspace. */
  shared?: SharedStores;
}

/** Opens the stores and the board of one workspace. */
async function openRecords(
  { env, log, database, workspaceId, embedder, shared }: RecordSources,
  closers: Closer[],
): Promise<WorkspaceContext> {
  const files = await createBoard({ dir: join(workspaceDirectory(env.BOARD_DATA_DIR, workspaceId), 'tasks'), log });
  closers.push(() => files.close());
  const owed = createOwedWrites(log);
  closers.push(() => owed.close());
  const stores = await openStores(database, env, { tasks: files, other: shared && { workspaceId, shared } });
  return {
    ...stores,
    workspaceId,
    database,
    board: governedBoard(files, stores, owed),
    search: openSearch({ ...stores, board: files, documents: docsDirectory(env, workspaceId), embedder, log }),
    recordAudit: (done) => {
      // The same however often it is written: by a repetition of the request, or once the store can be written again.
      const once = operationBytes('audit', 16).toString('hex');
      return owed.write(`audit of ${done.action}`, () => stores.audit.record({ once, ...done }));
    },
  };
}

/** The models that reviews may ask, and the one that searches do. @throws CatalogError */
async function openModels({
  BOARD_MODELS: path,
  BOARD_SEARCH_MODEL: name,
}: ApiEnvironment): Promise<Pick<InstallationContext, 'embedder' | 'modelNames'>> {
  if (path === undefined) {
    if (name !== undefined) {
      throw new CatalogError('BOARD_SEARCH_MODEL', [`${name}: there is no catalog; set BOARD_MODELS`]);
    }
    return { embedder: undefined, modelNames: undefined };
  }
  const catalog = await readCatalog(path);
  if (name === undefined) {
    return { embedder: undefined, modelNames: namesOf(catalog) };
  }
  const keyOf = (variable: string): string | undefined => process.env[variable];
  const embedder = createEmbedder({ catalog, name, mayRead: isEmbeddingKey, keyOf });
  // An embedding model answers no review.
  return { embedder, modelNames: namesOf(catalog.filter(({ model: { id } }) => id !== embedder.model)) };
}

type SigningSources = Pick<ApiContext, 'env' | 'log'> & SessionStores & Stores;

/** Who calls, by keys of the environment and by what is kept in the stores; and how users sign in. */
function signingIn({
  env,
  log,
  ...stores
}: SigningSources): Pick<InstallationContext, 'authenticate' | 'identify' | 'issueSession' | 'sessionTokens'> {
  const now = () => new Date();
  const sessionTokens = createSessionTokens(stores.sessionSecrets, now);
  const { issueSession, verifier } = createSessions(stores, {
    secureCookies: usesSecureCookies(env),
    standing: sessionStanding(stores),
    tokens: sessionTokens,
    log,
    addressOf: callerAddressBehind(env.BOARD_TRUSTED_PROXIES),
    now,
  });
  const identify = identifierOf(env, [verifier, tokenVerifier(stores), deviceVerifier(stores)]);
  return { authenticate: authenticateWith(identify), identify, issueSession, sessionTokens };
}

/**
 * The board as the API changes it: names of branches are settled, no delegate changes its scope, rules and gates are asked,
 * ceremonies required, and every change is recorded.
 */
function governedBoard(files: Board, stores: Stores, owed: OwedWrites): Board {
  const named = branchedBoard(delegatedBoard(files, stores.delegations), stores);
  const governed = gatedBoard(transitionBoard(named, stores), createCompletionGate(stores));
  const ruled = ruledBoard(governed, stores.rules, { asks: 'all' });
  const recorders = [createChangeRecorder({ ...stores, owed }), createDelegationRecorder({ ...stores, owed })];
  return recordedBoard(ruled, async (change) => {
    for (const record of recorders) {
      await record(change);
    }
  });
}

const healthChecks = (env: ApiEnvironment, database: Database, client: Client | undefined): ApiContext['checks'] => ({
  storage: storageCheck(database),
  memory: memoryCheck(),
  disk: diskCheck(env.BOARD_DATA_DIR, env.BOARD_DISK_MIN_FREE_MB),
  ...(client ? { temporal: temporalCheck(client, env.TEMPORAL_NAMESPACE) } : {}),
});
