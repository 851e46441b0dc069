import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { agentDecider } from '../activities/agent-approvals';
import { attemptDirectories } from '../activities/attempt-files';
import { createDispatchActivities } from '../activities/dispatch';
import type { AgentStops } from '../activities/agent-stops';
import type { LiveAgents } from '../activities/live-agents';
import { createObservedEndActivities } from '../activities/observed-end';
import { reportingStarts } from '../activities/probing';
import { createRepositoryActivities } from '../activities/repository';
import { createSpoolRetentionActivities } from '../activities/retention/spools';
import { createRewindActivities } from '../activities/rewind';
import { createBeginWorktreeActivities } from '../activities/worktree/begin';
import { createNewWorktreeActivities } from '../activities/worktree/create';
import { createWorktreeStepActivities } from '../activities/worktree/steps';
import { createWorktreeViewActivities } from '../activities/worktree/view';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import type { VisibleProcess } from '../platform/processes/identity';
import { agentRunId } from '../workflows/agent-run/messages';
import type { SharedDependencies } from './shared';

export interface HostParts {
  env: WorkerEnvironment;
  client: Client;
  /** This process. */
  self: VisibleProcess;
  leaving: AbortSignal;
  stopping: AbortSignal;
  live: LiveAgents;
  stops: AgentStops;
  /** This process's own queue. */
  queue: string;
}

/** What is done on the queue of a host: whatever needs its disk, its worktrees or its processes. */
export function createHostActivities(
  {
    stores,
    onHost,
    prepare,
    limits,
    agentAccess,
    providers,
    probing,
    approvals,
    command,
    taskStatus,
  }: SharedDependencies,
  { env, client, self, leaving, stopping, live, stops, queue }: HostParts,
) {
  const { claims, checkpoints, handles, rewinds, outputArtifacts, watchdog } = stores;
  const { agentsDir } = attemptDirectories(env.BOARD_DATA_DIR);
  return {
    ...prepare,
    ...createBeginWorktreeActivities(onHost),
    ...createNewWorktreeActivities(onHost),
    ...createWorktreeStepActivities(onHost),
    ...createWorktreeViewActivities({ ...onHost, editorCommand: env.BOARD_EDITOR_COMMAND }),
    ...createObservedEndActivities({ ...onHost, claims }),
    ...createRepositoryActivities(onHost),
    ...createRewindActivities({ ...onHost, checkpoints, rewinds }),
    ...createSpoolRetentionActivities({
      ...onHost,
      agentsDir,
      settings: async () => (await stores.featureSettings.current()).retention,
    }),
    ...createDispatchActivities({
      ...onHost,
      providers: reportingStarts(providers, probing),
      live,
      handles,
      stops,
      outputArtifacts,
      phases: stores.phases,
      self,
      queue,
      leaving,
      stopping,
      decider: (record) => agentDecider(approvals, record),
      isRunOpen: (attemptId) => isRunOpen(client, attemptId),
      watchdog,
      checkpoints,
      checkpointEveryMs: env.BOARD_CHECKPOINT_INTERVAL_MS,
      lateWordMs: 1_000,
      command,
      taskStatus,
      agentAccess,
      ...attemptDirectories(env.BOARD_DATA_DIR),
      limits,
    }),
  };
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
