import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { createApprovals } from '../approvals/approvals';
import { rolePermissions } from '../contracts/permissions';
import type { Environment } from '../platform/config/env';
import { createAuthenticator, type Authenticate } from '../platform/http/auth';
import { listen, type RunningServer } from '../platform/http/server';
import type { Log } from '../platform/log/log';
import { createAgentConfigStore } from '../stores/agent-config-store';
import { createApprovalStore } from '../stores/approval-store';
import { createBoard } from '../stores/board-files/board';
import { openBoardHome } from '../stores/board-home';
import { openDatabase } from '../stores/open';
import { createOutputArtifactStore } from '../stores/output-artifact-store';
import { createRepositoryStore } from '../stores/repository-store';
import { createRewindStore } from '../stores/rewind-store';
import { createRoutingStore } from '../stores/routing-store';
import { createTelemetryStore } from '../stores/telemetry-store';
import { createTraceStore } from '../stores/trace-store';
import { createTrustStore } from '../stores/trust-store';
import { createCheckpointStore } from '../stores/checkpoint-store';
import { createPhaseStore } from '../stores/phase-store';
import { createProfileStore } from '../stores/profile-store';
import { createSandboxStore } from '../stores/sandbox-store';
import { createSettingsStore } from '../stores/settings-store';
import { createWatchdogStore } from '../stores/watchdog-store';
import { createWorkspaceCapabilityStore } from '../stores/workspace-capability-store';
import { createWorktreeStore } from '../stores/worktree-store';
import { openAdmission } from './admission/open';
import { admissionRoutes } from './admission/routes';
import { createApp, requestTimeoutMs } from './app';
import type { ApprovalsContext } from './approvals/context';
import { createApprovalLauncher } from './approvals/launcher';
import { approvalRoutes } from './approvals/routes';
import { checkpointRoutes } from './checkpoints/routes';
import type { ApiContext, Area } from './context';
import { FeedHub } from './feed/hub';
import { defaultFeedSettings, serveFeed } from './feed/server';
import { diskCheck, memoryCheck, storageCheck, temporalCheck } from './health/checks';
import { outputArtifactRoutes } from './output-artifacts/routes';
import type { PhasesContext } from './phases/context';
import { createPhaseLauncher } from './phases/launcher';
import { phaseRoutes } from './phases/routes';
import type { RewindContext } from './rewind/context';
import { createRewindLauncher } from './rewind/launcher';
import { rewindRoutes } from './rewind/routes';
import { openRuns } from './runs/open';
import { runRoutes } from './runs/routes';
import type { WatchdogContext } from './watchdog/context';
import { watchdogRoutes } from './watchdog/routes';
import type { WorktreesContext } from './worktrees/context';
import { createWorktreeLauncher } from './worktrees/launcher';
import { worktreeRoutes } from './worktrees/routes';
import type { TrustContext } from './workspace-trust/context';
import { createTrustLauncher } from './workspace-trust/launcher';
import { trustRoutes } from './workspace-trust/routes';

export interface RunningApi {
  readonly url: string;
  readonly port: number;
  readonly context: ApiContext;
  /** Finishes running requests, then lets go of the board and the stores. */
  close(): Promise<void>;
}

/** Who may do what, as the environment says. The bypass for local callers is never on in production. */
export const authenticatorOf = (env: Environment): Authenticate =>
  createAuthenticator({
    enabled: env.BOARD_AUTH_ENABLED,
    adminKey: env.BOARD_ADMIN_KEY,
    apiKeys: env.BOARD_API_KEYS,
    localRole:
      env.BOARD_AUTH_LOCALHOST_BYPASS && env.NODE_ENV !== 'production' ? env.BOARD_AUTH_LOCALHOST_ROLE : undefined,
    rolePermissions,
  });

type Closer = () => Promise<void>;

/** Runs every closer, the last opened first, even when one fails. */
async function closeAll(closers: Closer[], log: Log): Promise<void> {
  for (const close of [...closers].reverse()) {
    await close().catch((error: unknown) => log.error({ err: error }, 'closing failed'));
  }
}

async function openContext(env: Environment, log: Log, closers: Closer[]): Promise<ApiContext> {
  await mkdir(env.BOARD_DATA_DIR, { recursive: true });
  const database = await openDatabase({ mongoUrl: env.MONGODB_URL, dataDir: env.BOARD_DATA_DIR, log });
  closers.push(() => database.close());
  const home = await openBoardHome(database, { dataDir: env.BOARD_DATA_DIR, shared: env.MONGODB_URL !== undefined });
  await home.claim();
  const board = await createBoard({ dir: join(env.BOARD_DATA_DIR, 'tasks'), log });
  closers.push(() => board.close());
  const agents = await createAgentConfigStore(database);
  const profiles = await createProfileStore(database);
  return {
    env,
    log,
    board,
    database,
    agents,
    repositories: await createRepositoryStore(database),
    routing: await createRoutingStore(database, {
      agents,
      profiles: () => profiles.list(),
      maxRetries: env.BOARD_RUN_RETRIES,
    }),
    workspaceCapabilities: await createWorkspaceCapabilityStore(database),
    traces: await createTraceStore(database),
    telemetry: await createTelemetryStore(database),
    settings: await createSettingsStore(database, env),
    profiles,
    sandboxes: await createSandboxStore(database),
    authenticate: authenticatorOf(env),
    checks: { storage: storageCheck(database), memory: memoryCheck(), disk: diskCheck(env.BOARD_DATA_DIR) },
    startedAt: new Date(),
  };
}

/** Adds the runs and worktrees of tasks and the live feed, all of which need Temporal or what its workers write. */
async function openDurable(context: ApiContext, client: Client, closers: Closer[]) {
  const runs = await openRuns(context, client);
  const phaseStore = await createPhaseStore(context.database);
  const approvals: ApprovalsContext = {
    approvals: await createApprovalStore(context.database),
    phases: phaseStore,
    launcher: createApprovalLauncher(client),
    now: () => new Date(),
  };
  const phases: PhasesContext = {
    attempts: runs.attempts,
    phases: phaseStore,
    approvals: approvals.approvals,
    requests: createApprovals({
      approvals: approvals.approvals,
      attempts: runs.attempts,
      feed: runs.feed,
      client,
      now: approvals.now,
    }),
    launcher: createPhaseLauncher(client),
    traces: context.traces,
    now: approvals.now,
  };
  const hub = new FeedHub({ ...runs, approvals: approvals.approvals, board: context.board, log: context.log });
  await hub.start();
  closers.push(() => hub.stop());
  context.checks.temporal = temporalCheck(client);
  const admission = await openAdmission(context, client, runs.launcher);
  const worktrees: WorktreesContext = {
    board: context.board,
    worktrees: await createWorktreeStore(context.database),
    launcher: createWorktreeLauncher(client, { heartbeatTimeoutMs: context.env.BOARD_HEARTBEAT_TIMEOUT_MS }),
    now: () => new Date(),
  };
  const checkpoints = { ...runs, checkpoints: await createCheckpointStore(context.database) };
  const rewind: RewindContext = {
    ...checkpoints,
    rewinds: await createRewindStore(context.database),
    approvalStore: approvals.approvals,
    approvals: createApprovals({ ...runs, approvals: approvals.approvals, client, now: approvals.now }),
    launcher: createRewindLauncher(client),
    now: () => new Date(),
  };
  const watchdog: WatchdogContext = {
    ...runs,
    watchdog: await createWatchdogStore(context.database),
    now: () => new Date(),
  };
  const { env, database, log } = context;
  const trust: TrustContext = {
    ...runs,
    ...context,
    worktrees: worktrees.worktrees,
    trust: await createTrustStore(database),
    launcher: createTrustLauncher(client),
    now: () => new Date(),
  };
  const artifacts = {
    outputArtifacts: await createOutputArtifactStore(database, { retentionMs: env.BOARD_ARTIFACT_RETENTION_MS }),
    log,
    settings: { readsPerMinute: env.RATE_LIMIT_ARTIFACTS },
  };
  const areas: Area[] = [
    (routes) => runRoutes(routes, runs),
    (routes) => watchdogRoutes(routes, watchdog),
    (routes) => checkpointRoutes(routes, checkpoints),
    (routes) => rewindRoutes(routes, rewind),
    (routes) => outputArtifactRoutes(routes, artifacts),
    (routes) => admissionRoutes(routes, admission),
    (routes) => worktreeRoutes(routes, worktrees),
    (routes) => approvalRoutes(routes, approvals),
    (routes) => phaseRoutes(routes, phases),
    (routes) => trustRoutes(routes, trust),
  ];
  return { areas, hub };
}

/**
 * Starts one replica of the API in this process.
 *
 * @param client of the Temporal server; without one there are no runs and no feed
 * @throws ListenError when the port cannot be had; nothing stays open
 */
export async function startApi(env: Environment, log: Log, client?: Client): Promise<RunningApi> {
  const closers: Closer[] = [];
  try {
    const context = await openContext(env, log, closers);
    const durable = client && (await openDurable(context, client, closers));
    const { app } = createApp(context, durable?.areas);
    const server: RunningServer = await listen(app.callback(), {
      host: env.BOARD_HOST,
      port: env.BOARD_PORT,
      requestTimeoutMs,
    });
    closers.push(() => server.close());
    if (durable) closers.push(watchable(server, durable.hub, context));
    return { url: server.url, port: server.port, context, close: () => closeAll(closers, log) };
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }
}

/** Serves the feed on the API's port; the closer ends its connections before the server waits for them. */
function watchable({ server }: RunningServer, hub: FeedHub, { env, authenticate, log }: ApiContext): Closer {
  const feed = serveFeed(server, {
    hub,
    authenticate,
    log,
    settings: {
      ...defaultFeedSettings,
      allowedOrigins: env.BOARD_ALLOWED_ORIGINS,
      allowLocalOrigins: env.NODE_ENV !== 'production',
    },
  });
  return () => feed.close();
}
