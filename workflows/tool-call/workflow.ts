import { CancellationScope, log, proxyActivities, proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ToolCallActivities, ToolCallRecordActivities } from '../../activities/tool-call/activities';
import type { ToolCallState } from '../../contracts/integrations/tool-call';
import type { ToolCallInput } from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const records = proxyLocalActivities<ToolCallRecordActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * The call happens in the worker process that supervises the agent, on that process's own queue. Never repeated: it has side
 * effects. Its heartbeat is how a dead worker is noticed.
 */
const callOn = (taskQueue: string, { timeoutMs, heartbeatTimeoutMs }: ToolCallInput) =>
  proxyActivities<ToolCallActivities>({
    taskQueue,
    scheduleToStartTimeout: '10 seconds',
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { maximumAttempts: 1 },
    summary: 'call the tool',
  });

/** One call of a tool, dispatched once or never; a call whose response was lost is recorded as of an unknown outcome. */
export function toolCall(input: ToolCallInput): Promise<ToolCallState> {
  // An operator's "cancel" in the Temporal UI does not leave a call without an end.
  return CancellationScope.nonCancellable(() => call(input));
}

async function call(input: ToolCallInput): Promise<ToolCallState> {
  const { attemptId, callId } = input;
  const queue = await records.toolCallQueue({ attemptId, callId });
  if (queue !== null) {
    try {
      await callOn(queue, input).runToolCall({ attemptId, callId });
    } catch (error) {
      log.warn('tool call lost with its worker', { attemptId, callId, error });
    }
  }
  const state = await records.settleToolCall({ attemptId, callId });
  setCurrentDetails(`The call is **${state}**.`);
  return state;
}
