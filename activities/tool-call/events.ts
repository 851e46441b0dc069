import type { RunEventInput } from '../../contracts/runs/event';
import { compact } from '../../platform/json/compact';
import type { ToolCallRecord } from '../../stores/integrations/tool-call-store';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import type { RunEventStore } from '../../stores/runs/event-store';
import { sourceOf } from '../shared/event-source';

/** Appends what became of a call to the journal of its run: repeated, it appends nothing twice. */
export async function publishCall(
  events: Pick<RunEventStore, 'appendUnlessEnded'>,
  attempt: AttemptRecord,
  call: ToolCallRecord,
): Promise<void> {
  const all = [started(call), completed(call)].filter((event) => event !== undefined);
  if (all.length > 0) {
    await events.appendUnlessEnded(sourceOf(attempt), all);
  }
}

const about = ({ id: callId, serverId, tool, argumentsDigest, approvalId, requestedBy }: ToolCallRecord) => ({
  callId,
  serverId,
  tool,
  argumentsDigest,
  requestedBy,
  ...compact({ approvalId }),
});

function started(call: ToolCallRecord): RunEventInput | undefined {
  return call.dispatchedAt === undefined
    ? undefined
    : {
        kind: 'tool.started',
        itemId: call.id,
        payload: about(call),
        receivedAt: call.dispatchedAt,
        dedupeKey: `tool-started/${call.id}`,
      };
}

function completed(call: ToolCallRecord): RunEventInput | undefined {
  const { id, state, error, result, endedAt } = call;
  return endedAt === undefined
    ? undefined
    : {
        kind: 'tool.completed',
        itemId: id,
        payload: {
          ...about(call),
          state,
          ...compact({
            isError: result?.isError,
            truncated: result?.truncated,
            error: error && { code: error.code, message: error.message },
          }),
        },
        receivedAt: endedAt,
        dedupeKey: `tool-completed/${id}`,
      };
}
