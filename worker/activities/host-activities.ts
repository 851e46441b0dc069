import type { Client } from '@temporalio/client';
import { createAgentCheckActivities } from '../../activities/agent-check/activities';
import { createObservedEndActivities } from '../../activities/agent-run/completion/observed-end';
import { createDispatchActivities } from '../../activities/agent-run/dispatch/activities';
import { agentDecider } from '../../activities/agent-run/dispatch/agent-approvals';
import type { AgentStops } from '../../activities/agent-run/dispatch/agent-stops';
import { attemptDirectories } from '../../activities/agent-run/dispatch/attempt-files';
import type { LiveAgents } from '../../activities/agent-run/dispatch/live-agents';
import { reportingStarts } from '../../activities/agent-run/prepare/probing';
import { createPushActivities } from '../../activities/pull-request/push';
import { createRepositoryActivities } from '../../activities/repository-setup/activities';
import { createRepositoryViewActivities } from '../../activities/repository-view/activities';
import { createSpoolRetentionActivities } from '../../activities/retention/spools';
import { createToolDiscoveryActivities } from '../../activities/tool-discovery/activities';
import { createWorkflowToolCallActivities } from '../../activities/workflow-tool-call/activities';
import { createRewindActivities } from '../../activities/workspace-rewind/activities';
import { createBeginWorktreeActivities } from '../../activities/worktree/begin/begin';
import { createNewWorktreeActivities } from '../../activities/worktree/create';
import { createDiffActivities } from '../../activities/worktree/reading/read-diff';
import { createWorktreeStepActivities } from '../../activities/worktree/steps';
import { createWorktreeViewActivities } from '../../activities/worktree/view';
import type { WorkerEnvironment } from '../../platform/config/part-settings';
import type { VisibleProcess } from '../../platform/processes/identity';
import type { SleepWatch } from '../../platform/processes/sleep-watch';
import { toolRulings } from '../../stores/governance/tool-rulings';
import { isRunOpen } from '../../workflows/agent-run/reconcile-client';
import type { SharedDependencies } from './shared';

export interface HostParts {
  env: WorkerEnvironment;
  /** Where the files of the workspace are. */
  directory: string;
  client: Client;
  /** This process. */
  self: VisibleProcess;
  /** Notices that this process slept. */
  sleep: SleepWatch;
  leaving: AbortSignal;
  stopping: AbortSignal;
  live: LiveAgents;
  stops: AgentStops;
  /** This process's own queue. */
  queue: string;
}

/** The activities of a host's queue: those that need its disk, its worktrees or its processes. */
export function createHostActivities(
  {
    stores,
    common,
    onHost,
    forges,
    prepare,
    limits,
    agentAccess,
    providers,
    probing,
    approvals,
    command,
    taskStatus,
    toolServers,
    toolServerPool,
  }: SharedDependencies,
  { env, directory, client, self, sleep, leaving, stopping, live, stops, queue }: HostParts,
) {
  const { claims, checkpoints, attemptHandles, rewinds, outputArtifacts, watchdog } = stores;
  const { agentsDir } = attemptDirectories(directory);
  const agentSettings = async () => (await stores.settings.current()).agents;
  return {
    ...prepare,
    ...createBeginWorktreeActivities(onHost),
    ...createNewWorktreeActivities(onHost),
    ...createWorktreeStepActivities(onHost),
    ...createWorktreeViewActivities({ ...onHost, editorCommand: env.BOARD_EDITOR_COMMAND }),
    ...createObservedEndActivities({ ...onHost, claims, phases: stores.phases, agentSettings }),
    ...createDiffActivities(onHost),
    ...createPushActivities({ ...onHost, pullRequests: stores.pullRequests, forges }),
    ...createRepositoryActivities(onHost),
    ...createRepositoryViewActivities(onHost),
    ...createAgentCheckActivities({
      ...onHost,
      agents: stores.agents,
      providers,
      probing,
    }),
    ...createToolDiscoveryActivities({ ...onHost, servers: stores.toolServers, discoverer: toolServers }),
    ...createWorkflowToolCallActivities({ ...stores, pool: toolServerPool, now: common.now }),
    ...createRewindActivities({ ...onHost, checkpoints, rewinds }),
    ...createSpoolRetentionActivities({
      ...onHost,
      agentsDir,
      settings: async () => (await stores.settings.current()).retention,
    }),
    ...createDispatchActivities({
      ...onHost,
      providers: reportingStarts(providers, probing),
      live,
      handles: attemptHandles,
      toolBridge: { handles: stores.toolBridgeHandles, pool: toolServerPool, url: env.BOARD_TOOL_BRIDGE_URL },
      offered: (agent, offer) => probing.offered(agent, offer),
      stops,
      outputArtifacts,
      telemetry: stores.telemetry,
      phases: stores.phases,
      agentSettings,
      self,
      sleep,
      queue,
      leaving,
      stopping,
      decider: (record) => agentDecider({ approvals, workspaceId: common.workspaceId }, record),
      toolRulings: (record) => toolRulings(stores, record),
      isRunOpen: (attemptId) => isRunOpen(client, attemptId),
      spend: stores,
      watchdog,
      checkpoints,
      checkpointEveryMs: env.BOARD_CHECKPOINT_INTERVAL_MS,
      lateWordMs: 1_000,
      command,
      taskStatus,
      agentAccess,
      ...attemptDirectories(directory),
      limits,
    }),
  };
}
