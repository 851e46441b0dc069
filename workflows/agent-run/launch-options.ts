import { localWorkspace } from '../../contracts/common';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { boardQueue } from '../queues';
import { agentRunId, type AgentRunInput, type RunTimings } from './messages';

/** By what operators find the workflows of a launch. */
export const launchAttributes = ({ taskId, workspaceId }: Pick<AgentRunInput, 'taskId' | 'workspaceId'>) => [
  { key: searchAttributes.taskId, value: taskId },
  { key: searchAttributes.workspaceId, value: workspaceId ?? localWorkspace },
  { key: searchAttributes.rootObjectiveId, value: taskId },
];

/** How a launch starts the workflow of an attempt: once, however many requests there are. */
export const launchOptions = (input: AgentRunInput, staticSummary: string) => ({
  workflowId: agentRunId(input.attemptId),
  taskQueue: boardQueue,
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
  args: [input] as [AgentRunInput],
  staticSummary,
  typedSearchAttributes: [
    ...launchAttributes(input),
    { key: searchAttributes.attemptId, value: input.attemptId },
    { key: searchAttributes.runState, value: 'admitting' },
  ],
});

/** How long the runs of this configuration may take and be silent. */
export const runTimingsOf = (env: RunTimingsEnvironment): RunTimings => ({
  runTimeoutMs: env.BOARD_RUN_TIMEOUT_MS,
  heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS,
  retryBackoffMs: env.BOARD_RETRY_BACKOFF_MS,
});

interface RunTimingsEnvironment {
  BOARD_RUN_TIMEOUT_MS: number;
  BOARD_HEARTBEAT_TIMEOUT_MS: number;
  BOARD_RETRY_BACKOFF_MS: number;
}
