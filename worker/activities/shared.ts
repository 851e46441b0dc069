import { join, resolve } from 'node:path';
import type { Client } from '@temporalio/client';
import type { AdmissionControl } from '../../activities/agent-run/admission/dependencies';
import { createPrepareActivities } from '../../activities/agent-run/prepare/activities';
import { createAgentProbing } from '../../activities/agent-run/prepare/probing';
import { lowDisk } from '../../activities/shared/low-disk';
import { createRepositoryForges } from '../../activities/shared/repository-forges';
import { createToolDiscoverer } from '../../activities/tool-discovery/discover';
import { createWorktreeFences } from '../../activities/worktree/fences';
import { enabledScopes } from '../../domain/tool-servers/credential-scopes';
import type { WorkerEnvironment } from '../../platform/config/part-settings';
import type { Log } from '../../platform/log/log';
import type { Models } from '../../platform/models/models';
import type { VisibleProcess } from '../../platform/processes/identity';
import type { SleepWatch } from '../../platform/processes/sleep-watch';
import { createProofVerifier, type ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { SleepGuard } from '../../platform/temporal/workers/sleep-guard';
import { createAcpProvider } from '../../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../../providers/agents/process/process-provider';
import type { AgentProvider } from '../../providers/agents/provider';
import { createProviderRegistry } from '../../providers/agents/registry';
import { createAgentAccess } from '../../providers/agents/user/agent-access';
import { type AgentUser, findAgentUser } from '../../providers/agents/user/agent-user';
import { createGit } from '../../providers/git/git';
import { createHostFindings } from '../../providers/git/host-findings';
import { removeAbandonedInspections } from '../../providers/git/repository/inspecting';
import { createSandboxHost } from '../../providers/sandbox/sandbox-host';
import { createToolServerPool } from '../../providers/tool-servers/pool';
import type { Board } from '../../stores/board-files/board';
import { openStores, type SharedStores, type Stores } from '../../stores/open-stores';
import type { Database } from '../../stores/port/collection';
import { wakeScheduler } from '../../workflows/admission-scheduler/client';
import type { CommandInput } from '../../workflows/agent-run/messages';
import { commandRun } from '../../workflows/agent-run/signals-client';
import { claimed, temporalOperator } from '../../workflows/operator';
import { createApprovals } from '../../workflows/run-approval/client';

export interface WorkerParts {
  env: WorkerEnvironment;
  log: Log;
  hostId: string;
  /** Names this worker process, until it ends. */
  workerId: string;
  /** This process. */
  self: VisibleProcess;
  /** Notices that this process slept. */
  sleep: SleepWatch;
  /** Stops its activities then: every write of the stores, of task files and of git is checked. */
  sleepGuard: SleepGuard;
  /** Whose records these are, and where its files are. */
  workspaceId: string;
  directory: string;
  database: Database;
  /** The task files, on a worker that has them in its data directory. */
  board: Board | undefined;
  /** Reaches the workflows of this workspace. */
  client: Client;
  /** For another workspace than `local`: what it has in common with it. */
  local?: { stores: SharedStores; client: Client } | undefined;
  /** The models of this process; none without a catalog. */
  models: Models | undefined;
  /** Aborted when the worker is to end. */
  leaving: AbortSignal;
  /** Aborted when the worker shuts down. */
  stopping: AbortSignal;
  /** The providers of this host's agents; every family when absent. */
  providers?: readonly AgentProvider[] | undefined;
}

/** Every family of agents that runs on a host. */
const localProviders = (user: AgentUser | undefined, env: WorkerEnvironment): AgentProvider[] => {
  const { BOARD_DATA_DIR, BOARD_SANDBOX_API_ADDRESS: apiAddress, BOARD_SANDBOX_READ_PATHS: shownPaths } = env;
  const sandbox = createSandboxHost({ user, apiAddress, shownPaths, protectedPaths: [resolve(BOARD_DATA_DIR)] });
  return [createProcessProvider({ user, sandbox }), createAcpProvider({ user, sandbox })];
};

/** Opens what the activities of the board's queue and those of the host's have in common. */
export async function openShared({
  self,
  env,
  log,
  hostId,
  workspaceId,
  directory,
  database,
  board,
  client,
  local,
  sleepGuard,
  providers: families,
}: WorkerParts) {
  const stores = await openStores(database, env, {
    tasks: board,
    other: local && { workspaceId, shared: local.stores },
  });
  const { activeRuns, attempts, events, feed, hosts, recoveries, settings, traces, worktrees } = stores;
  const now = () => new Date();
  const { admissionRequests: requests, queue, reservations, telemetry, trees } = stores;
  const admission: AdmissionControl = {
    requests,
    reservations,
    queue,
    trees,
    settings,
    telemetry,
    hosts,
    traces,
    log,
    now,
    // There is one scheduler, since there is one capacity.
    wakeScheduler: () => wakeScheduler(local?.client ?? client),
  };
  /** What nearly every activity works with. */
  const common = {
    workspaceId,
    proofs: verifierOf(stores),
    audit: stores.audit,
    attempts,
    activeRuns,
    admission,
    recoveries,
    worktrees,
    events,
    feed,
    log,
    now,
  };

  const dataDir = resolve(directory);
  const agentUser = env.BOARD_AGENT_USER === undefined ? undefined : findAgentUser(env.BOARD_AGENT_USER);
  const settingsDir = join(dataDir, 'git');
  await removeAbandonedInspections(settingsDir).catch((error: unknown) =>
    log.warn({ err: error }, 'inspection cleanup failed'),
  );
  const git = createGit({
    log,
    settingsDir,
    othersWork: agentUser !== undefined,
    assertAllowed: sleepGuard.assertAwake,
  });
  const fences = createWorktreeFences({ worktrees, dir: join(dataDir, 'fences'), self });
  const worktreeDir = join(dataDir, 'worktrees');
  const hostFindings = createHostFindings(worktreeDir);
  const limits = {
    runTimeoutMs: env.BOARD_RUN_TIMEOUT_MS,
    outputLimitBytes: env.BOARD_RUN_OUTPUT_LIMIT_BYTES,
    stopGraceMs: env.BOARD_STOP_GRACE_MS,
  };
  const providers = createProviderRegistry(families ?? localProviders(agentUser, env));
  const probing = createAgentProbing({ providers, manifests: stores.hostManifests, hostId, now });

  const toolServers = createToolDiscoverer({
    discoveries: stores.toolDiscoveries,
    environment: {
      host: { environment: process.env, user: agentUser },
      allowPrivate: env.BOARD_TOOL_SERVER_ALLOW_PRIVATE,
      credentialVariables: async () => enabledScopes((await settings.read()).features.toolServers.credentialScopes),
    },
    hostId,
    now,
  });

  return {
    stores,
    common,
    /** What nearly every activity of the host works with. */
    onHost: {
      ...common,
      fences,
      resolutions: stores.conflictResolutions,
      audit: stores.audit,
      repositories: stores.repositories,
      git,
      hostId,
      hostFindings,
      worktreeDir,
      integrationDir: join(dataDir, 'integrations'),
    },
    forges: createRepositoryForges({
      repositories: stores.repositories,
      environment: process.env,
      allowPrivate: env.BOARD_FORGE_ALLOW_PRIVATE,
      hostId,
    }),
    toolServers,
    /** The tool servers of attempts; to be closed with the process. */
    toolServerPool: createToolServerPool(toolServers.environment),
    limits,
    agentUser,
    agentAccess: agentUser && createAgentAccess(agentUser, resolve(env.BOARD_DATA_DIR)),
    providers,
    probing,
    approvals: createApprovals({ approvals: stores.approvals, attempts, feed, client, now }),
    // On both queues: a run without a worktree has no host.
    prepare: createPrepareActivities({
      ...common,
      toolServers: stores.toolServers,
      toolCatalogs: stores.toolCatalogs,
      toolDiscoverer: toolServers,
      phases: stores.phases,
      trust: stores.trust,
      settings,
      traces,
      git,
      fences,
      probe: (agent, patienceMs) => probing.probe(agent, patienceMs),
      missingVariables: (agent) => providers.find(agent.provider)?.missingVariables(agent) ?? [],
      agentFindings: (agent) => providers.find(agent.provider)?.findings(agent) ?? [],
      hostId,
      hostFindings,
      worktreeDir,
      diskSpace: lowDisk({ directory: dataDir, hostId, minFreeMb: env.BOARD_DISK_MIN_FREE_MB }),
      limits,
    }),
    /** Sends a run a command: its message, and its sender, are stored before. */
    command: async ({ message, actor, sentBy = actor, ...ref }: CommandInput & { commandId: string }) => {
      const { attemptId } = ref;
      const taskId = (await attempts.get(attemptId))?.taskId ?? '';
      const words = message === undefined ? {} : { message };
      await stores.commands.request({ ...ref, taskId, ...words, actor, sentBy, createdAt: now().toISOString() });
      return commandRun(client, { ...ref, actor });
    },
    taskStatus: async (taskId: string) => (await board?.get(taskId))?.task.status,
  };
}

/** Verifies messages that come through Temporal; refused ones are in the audit log. */
const verifierOf = ({ messageProofs, audit }: Pick<Stores, 'messageProofs' | 'audit'>): ProofVerifier =>
  createProofVerifier({
    proofs: messageProofs,
    onRefused: ({ purpose, subject, actor }, problem) =>
      audit.record({
        action: 'temporal-message.refuse',
        actor: temporalOperator,
        resource: subject.slice(0, 200),
        details: { purpose, problem, claimedActor: claimed(actor) },
      }),
  });

export type SharedDependencies = Awaited<ReturnType<typeof openShared>>;
