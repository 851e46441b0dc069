import { CancellationScope, log, proxyActivities, proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type {
  WorkflowToolCallActivities,
  WorkflowToolCallRecordActivities,
} from '../../activities/workflow-tool-call/activities';
import type { ToolCallState } from '../../contracts/integrations/tool-call';
import { hostQueue } from '../queues';
import type { WorkflowToolCallInput } from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const records = proxyLocalActivities<WorkflowToolCallRecordActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/** On any worker of the host. Never repeated: it has side effects. Its heartbeat is how a dead worker is noticed. */
const callOn = ({ hostId, timeoutMs, heartbeatTimeoutMs }: WorkflowToolCallInput) =>
  proxyActivities<WorkflowToolCallActivities>({
    taskQueue: hostQueue(hostId),
    scheduleToStartTimeout: '1 minute',
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { maximumAttempts: 1 },
    summary: 'call the tool',
  });

/** One call of a stage, dispatched once or never; a call whose response was lost is recorded as of an unknown outcome. */
export function workflowToolCall(input: WorkflowToolCallInput): Promise<ToolCallState> {
  // An operator's "cancel" in the Temporal UI does not leave a call without an end.
  return CancellationScope.nonCancellable(() => call(input));
}

async function call(input: WorkflowToolCallInput): Promise<ToolCallState> {
  const { callId } = input;
  try {
    await callOn(input).runWorkflowToolCall({ callId });
  } catch (error) {
    log.warn('tool call lost with its worker', { callId, error });
  }
  const state = await records.settleWorkflowToolCall({ callId });
  setCurrentDetails(`The call is **${state}**.`);
  return state;
}
