import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { createAdmissionActivities } from '../activities/admission';
import { createCommandActivities, createDeliveryActivities } from '../activities/commands';
import { closeApproval, createApprovalActivities } from '../activities/approvals';
import { createCompletionActivities } from '../activities/completion';
import { createDispatchActivities } from '../activities/dispatch';
import { LiveAgents } from '../activities/live-agents';
import { createObservedEndActivities } from '../activities/observed-end';
import { createOperatorActivities } from '../activities/operator';
import { createOutputArtifactActivities } from '../activities/output-artifacts';
import { createReconcileActivities } from '../activities/reconcile-runs';
import { createRecoveryActivities } from '../activities/recovery';
import { createPhaseActivities } from '../activities/phases';
import { createAgentProbing, reportingStarts } from '../activities/probing';
import { watchRemoteRuns } from '../activities/watch-remote';
import { createPrepareActivities } from '../activities/prepare';
import { createRewindActivities, createRewindMessageActivities } from '../activities/rewind';
import { createSchedulerActivities } from '../activities/scheduler';
import { createTreeActivities } from '../activities/tree';
import { createBeginWorktreeActivities } from '../activities/worktree/begin';
import { createNewWorktreeActivities } from '../activities/worktree/create';
import { createWorktreePlanActivities } from '../activities/worktree/plan';
import { createWorktreeStepActivities } from '../activities/worktree/steps';
import { createWorktreeViewActivities } from '../activities/worktree/view';
import { agentDecider } from '../activities/agent-approvals';
import { createApprovals } from '../approvals/approvals';
import type { AgentConfig } from '../contracts/agent-config';
import type { Environment } from '../platform/config/env';
import type { Log } from '../platform/log/log';
import { identify, type ProcessIdentity } from '../platform/processes/identity';
import { createAcpProvider } from '../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../providers/agents/process/process-provider';
import type { AgentProvider } from '../providers/agents/provider';
import { createProviderRegistry } from '../providers/agents/registry';
import { createGit } from '../providers/git/git';
import { createActiveRunStore } from '../stores/active-run-store';
import { createAgentConfigStore } from '../stores/agent-config-store';
import { createApprovalStore } from '../stores/approval-store';
import { createAttemptStore } from '../stores/attempt-store';
import type { Board } from '../stores/board-files/board';
import { createCheckpointStore } from '../stores/checkpoint-store';
import { createClaimStore } from '../stores/claim-store';
import { createConversationStore } from '../stores/conversation-store';
import type { Database } from '../stores/collection';
import { createFeedStore } from '../stores/feed-store';
import { createHostManifestStore } from '../stores/host-manifest-store';
import { createHostStore } from '../stores/host-store';
import { createPhaseStore } from '../stores/phase-store';
import { createProfileStore } from '../stores/profile-store';
import { createOutputArtifactStore } from '../stores/output-artifact-store';
import { createRecoveryStore } from '../stores/recovery-store';
import { createRepositoryStore } from '../stores/repository-store';
import { createRewindStore } from '../stores/rewind-store';
import { createRoutingStore } from '../stores/routing-store';
import { createRunCommandStore } from '../stores/run-command-store';
import { createRunEventStore } from '../stores/run-event-store';
import { createSandboxStore } from '../stores/sandbox-store';
import { createSettingsStore } from '../stores/settings-store';
import { createTelemetryStore } from '../stores/telemetry-store';
import { createTraceStore } from '../stores/trace-store';
import { createTrustStore } from '../stores/trust-store';
import { createWatchdogStore } from '../stores/watchdog-store';
import { createWorktreeStore } from '../stores/worktree-store';
import { agentRunId, commandUpdate, type CommandInput } from '../workflows/agent-run/messages';
import { workerQueue } from '../workflows/queues';
import { openAdmission, runSignals } from './admission';
import { runWorkflows } from './run-workflows';

export interface WorkerParts {
  env: Environment;
  log: Log;
  hostId: string;
  database: Database;
  /** The task files, on a worker that has them in its data directory. */
  board: Board | undefined;
  client: Client;
  /** Aborted when the worker shuts down. */
  stopping: AbortSignal;
  /** What runs the agents of this host; every family that there is when absent. */
  providers?: readonly AgentProvider[] | undefined;
}

/** Every family of agents that runs on a host. */
export const localProviders = (): AgentProvider[] => [createProcessProvider(), createAcpProvider()];

/** Builds every store, provider and activity of a worker process: the only place where they meet. */
export async function createWorkerDependencies({
  env,
  log,
  hostId,
  database,
  board,
  client,
  stopping,
  providers: families = localProviders(),
}: WorkerParts) {
  const self = await ownIdentity();
  const feed = await createFeedStore(database);
  const [events, attempts, activeRuns, agents, repositories, recoveries, claims, hosts, worktrees] = await Promise.all([
    createRunEventStore(database, feed),
    createAttemptStore(database),
    createActiveRunStore(database),
    createAgentConfigStore(database),
    createRepositoryStore(database),
    createRecoveryStore(database),
    createClaimStore(database),
    createHostStore(database),
    createWorktreeStore(database),
  ]);
  const [profiles, sandboxes, featureSettings, traces, telemetry, commands, approvalStore, phases] = await Promise.all([
    createProfileStore(database),
    createSandboxStore(database),
    createSettingsStore(database, env),
    createTraceStore(database),
    createTelemetryStore(database),
    createRunCommandStore(database),
    createApprovalStore(database),
    createPhaseStore(database),
  ]);
  const conversations = await createConversationStore(database);
  const routing = await createRoutingStore(database, {
    agents,
    profiles: () => profiles.list(),
    maxRetries: env.BOARD_RUN_RETRIES,
  });
  const admission = await openAdmission({ database, env, client, hosts, settings: featureSettings, log });
  const [watchdog, checkpoints, rewinds] = await Promise.all([
    createWatchdogStore(database),
    createCheckpointStore(database),
    createRewindStore(database),
  ]);
  const command = (said: CommandInput & { commandId: string }) =>
    client.workflow
      .getHandle(agentRunId(said.attemptId))
      .executeUpdate(commandUpdate, { args: [said], updateId: said.commandId });
  const limits = {
    runTimeoutMs: env.BOARD_RUN_TIMEOUT_MS,
    outputLimitBytes: env.BOARD_RUN_OUTPUT_LIMIT_BYTES,
    stopGraceMs: env.BOARD_STOP_GRACE_MS,
  };
  const outputArtifacts = await createOutputArtifactStore(database, { retentionMs: env.BOARD_ARTIFACT_RETENTION_MS });
  const shared = {
    attempts,
    activeRuns,
    admission,
    recoveries,
    worktrees,
    events,
    feed,
    log,
    now: () => new Date(),
  };
  const git = createGit({ log });
  const providers = createProviderRegistry(families);
  const live = new LiveAgents();
  const queue = workerQueue(hostId, randomUUID());
  const approvals = createApprovals({ approvals: approvalStore, attempts, feed, client, now: shared.now });
  const onApprovals = { approvals: approvalStore, attempts, events, feed, now: shared.now };
  const withdrawApprovals = (attemptId: string) =>
    approvals.cancelOf(attemptId, (approvalId) =>
      closeApproval(onApprovals, approvalId, { decision: 'cancelled', actor: 'system:run-end' }),
    );

  const dataDir = resolve(env.BOARD_DATA_DIR);
  const onHost = {
    ...shared,
    git,
    hostId,
    worktreeDir: join(dataDir, 'worktrees'),
    integrationDir: join(dataDir, 'integrations'),
  };

  const manifests = await createHostManifestStore(database);
  const probing = createAgentProbing({ providers, manifests, hostId, now: shared.now });
  const prepare = createPrepareActivities({
    attempts,
    phases,
    trust: await createTrustStore(database),
    featureSettings,
    worktrees,
    git,
    probe: (agent) => probing.probe(agent),
    worktreeDir: onHost.worktreeDir,
    limits,
    traces,
    now: shared.now,
  });

  const recovery = createRecoveryActivities(shared);
  const taskStatus = async (taskId: string) => (await board?.get(taskId))?.task.status;
  const boardActivities = (onBoard: typeof shared & { board: Board }) => ({
    ...createAdmissionActivities({
      ...onBoard,
      conversations,
      routing,
      traces,
      repositories,
      profiles,
      sandboxes,
      featureSettings,
      hosts,
    }),
    ...createCommandActivities({ ...onBoard, commands }),
    ...createOperatorActivities(claims),
    ...createCompletionActivities({ ...onBoard, claims, telemetry, withdrawApprovals }),
    ...createApprovalActivities(onApprovals),
    ...recovery,
    ...createReconcileActivities({
      ...onBoard,
      workflows: runWorkflows(client),
      cancelRecovery: (input) => recovery.cancelRecovery(input),
      watchRemote: watchRemoteRuns({ ...onBoard, watchdog, command, taskStatus }),
      timings: {
        runTimeoutMs: env.BOARD_RUN_TIMEOUT_MS,
        heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS,
        retryBackoffMs: env.BOARD_RETRY_BACKOFF_MS,
      },
    }),
    ...createSchedulerActivities({ ...onBoard, hosts, ...runSignals(client) }),
    ...createPhaseActivities({
      phases,
      now: shared.now,
      tell: (attemptId, notice) => runSignals(client).tellPhase(attemptId, notice),
    }),
    ...createTreeActivities({ ...onBoard, ...runSignals(client) }),
    ...createRewindMessageActivities({ rewinds, command, now: shared.now }),
    ...createWorktreePlanActivities({ ...onBoard, repositories, hosts }),
    ...createOutputArtifactActivities({ outputArtifacts, attempts, log }),
    // A run without a worktree has no host: its contract is compiled here.
    ...prepare,
  });

  return {
    hosts,
    probing: { hostId, agents, manifests, look: (agent: AgentConfig) => probing.look(agent), log, now: shared.now },
    worktrees,
    admission,
    attempts,
    /** This process's own queue, and what is done on it. */
    queue,
    workerActivities: createDeliveryActivities({ ...shared, commands, live }),
    approvals: { store: approvalStore, service: approvals },
    boardActivities: board && boardActivities({ ...shared, board }),
    hostActivities: {
      ...prepare,
      ...createBeginWorktreeActivities(onHost),
      ...createNewWorktreeActivities(onHost),
      ...createWorktreeStepActivities(onHost),
      ...createWorktreeViewActivities({ ...onHost, editorCommand: env.BOARD_EDITOR_COMMAND }),
      ...createObservedEndActivities({ ...onHost, claims }),
      ...createRewindActivities({ ...onHost, checkpoints, rewinds }),
      ...createDispatchActivities({
        ...onHost,
        providers: reportingStarts(providers, probing),
        live,
        outputArtifacts,
        self,
        queue,
        stopping,
        decider: (record) => agentDecider(approvals, record),
        isRunOpen: (attemptId) => isRunOpen(client, attemptId),
        watchdog,
        checkpoints,
        checkpointEveryMs: env.BOARD_CHECKPOINT_INTERVAL_MS,
        command,
        taskStatus,
        transportDir: join(env.BOARD_DATA_DIR, 'envelopes'),
        limits,
      }),
    },
  };
}

async function ownIdentity(): Promise<ProcessIdentity> {
  const self = await identify(process.pid);
  if (!self) throw new Error('This process cannot tell who it is.');
  return self;
}

/** Whether a run's workflow goes on. Temporal that does not answer is no evidence that it does not. */
async function isRunOpen(client: Client, attemptId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(agentRunId(attemptId)).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    return !(error instanceof WorkflowNotFoundError);
  }
}
