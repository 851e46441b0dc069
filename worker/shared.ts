import { join, resolve } from 'node:path';
import type { Client } from '@temporalio/client';
import { lowDisk } from '../activities/low-disk';
import { createPrepareActivities } from '../activities/prepare';
import { createWorktreeFences } from '../activities/worktree/fences';
import { createAgentProbing } from '../activities/probing';
import { createApprovals } from '../approvals/approvals';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import type { Log } from '../platform/log/log';
import type { VisibleProcess } from '../platform/processes/identity';
import { createAcpProvider } from '../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../providers/agents/process/process-provider';
import { createProofVerifier, type ProofVerifier } from '../platform/temporal/proof-verifier';
import type { AgentProvider } from '../providers/agents/provider';
import { createProviderRegistry } from '../providers/agents/registry';
import { createAgentAccess } from '../providers/agents/user/agent-access';
import { findAgentUser, type AgentUser } from '../providers/agents/user/agent-user';
import { createGit } from '../providers/git/git';
import type { Board } from '../stores/board-files/board';
import type { Database } from '../stores/collection';
import { claimed, temporalOperator } from '../workflows/operator';
import { agentRunId, commandUpdate, type CommandInput } from '../workflows/agent-run/messages';
import { openAdmission } from './admission';
import { openStores, type WorkerStores } from './stores';

export interface WorkerParts {
  env: WorkerEnvironment;
  log: Log;
  hostId: string;
  /** Names this worker process, until it ends. */
  workerId: string;
  /** This process. */
  self: VisibleProcess;
  database: Database;
  /** The task files, on a worker that has them in its data directory. */
  board: Board | undefined;
  client: Client;
  /** Aborted when the worker is asked to end. */
  leaving: AbortSignal;
  /** Aborted when the worker shuts down. */
  stopping: AbortSignal;
  /** What runs the agents of this host; every family that there is when absent. */
  providers?: readonly AgentProvider[] | undefined;
}

/** Every family of agents that runs on a host. */
const localProviders = (user: AgentUser | undefined): AgentProvider[] => [
  createProcessProvider({ user }),
  createAcpProvider({ user }),
];

/** Opens what the activities of the board's queue and those of the host's have in common. */
export async function openShared({
  self,
  env,
  log,
  hostId,
  database,
  board,
  client,
  providers: families,
}: WorkerParts) {
  const stores = await openStores(database, env);
  const { activeRuns, attempts, events, feed, hosts, recoveries, worktrees, featureSettings } = stores;
  const now = () => new Date();
  const admission = await openAdmission({
    database,
    env,
    client,
    hosts,
    traces: stores.traces,
    settings: featureSettings,
    log,
  });
  /** What nearly every activity works with. */
  const usual = {
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

  const dataDir = resolve(env.BOARD_DATA_DIR);
  const agentUser = env.BOARD_AGENT_USER === undefined ? undefined : findAgentUser(env.BOARD_AGENT_USER);
  const git = createGit({ log, settingsDir: join(dataDir, 'git'), othersWork: agentUser !== undefined });
  const fences = createWorktreeFences({ worktrees, dir: join(dataDir, 'fences'), self });
  const worktreeDir = join(dataDir, 'worktrees');
  const limits = {
    runTimeoutMs: env.BOARD_RUN_TIMEOUT_MS,
    outputLimitBytes: env.BOARD_RUN_OUTPUT_LIMIT_BYTES,
    stopGraceMs: env.BOARD_STOP_GRACE_MS,
  };
  const providers = createProviderRegistry(families ?? localProviders(agentUser));
  const probing = createAgentProbing({ providers, manifests: stores.manifests, hostId, now });

  return {
    stores,
    usual,
    /** What nearly every activity of the host works with. */
    onHost: {
      ...usual,
      fences,
      audit: stores.audit,
      repositories: stores.repositories,
      git,
      hostId,
      worktreeDir,
      integrationDir: join(dataDir, 'integrations'),
    },
    limits,
    agentAccess: agentUser && createAgentAccess(agentUser, dataDir),
    providers,
    probing,
    approvals: createApprovals({ approvals: stores.approvals, attempts, feed, client, now }),
    // On both queues: a run without a worktree has no host.
    prepare: createPrepareActivities({
      ...usual,
      phases: stores.phases,
      trust: stores.trust,
      featureSettings,
      traces: stores.traces,
      git,
      fences,
      probe: (agent) => probing.probe(agent),
      missingVariables: (agent) => providers.find(agent.provider)?.missingVariables(agent) ?? [],
      worktreeDir,
      diskSpace: lowDisk({ directory: dataDir, hostId, minFreeMb: env.BOARD_DISK_MIN_FREE_MB }),
      limits,
    }),
    /** Says something to a run: what is said, and by whom, is in the stores before. */
    command: async ({ message, actor, sentBy = actor, ...ref }: CommandInput & { commandId: string }) => {
      const { attemptId, commandId } = ref;
      const taskId = (await attempts.get(attemptId))?.taskId ?? '';
      const words = message === undefined ? {} : { message };
      await stores.commands.request({ ...ref, taskId, ...words, actor, sentBy, createdAt: now().toISOString() });
      return client.workflow
        .getHandle(agentRunId(attemptId))
        .executeUpdate(commandUpdate, { args: [{ ...ref, actor }], updateId: commandId });
    },
    taskStatus: async (taskId: string) => (await board?.get(taskId))?.task.status,
  };
}

/** Verifies what comes through Temporal; what it refuses is in the audit log. */
const verifierOf = ({ messageProofs, audit }: Pick<WorkerStores, 'messageProofs' | 'audit'>): ProofVerifier =>
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
