import type { BridgedCall, ToolCall } from '../../../contracts/integrations/tool-call';
import { conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { digestOf } from '../../../platform/json/digest';
import { assertArguments, assertUnchanged, calledTool } from '../../../stores/integrations/called-tool';
import { toolCallIdOf, type ToolCallRecord } from '../../../stores/integrations/tool-call-store';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';
import { approvalOfCall, type CallApprovalContext } from './call-approval';
import { assertRunning, catalogOf } from './call-checks';
import { type CallRulesContext, needsApproval } from './call-rules';

export type ToolCallContext = CallApprovalContext &
  CallRulesContext &
  Pick<WorkflowContext, 'makeToolCall' | 'toolCatalogs' | 'toolServers'>;

/** A call as it reached the board. */
export interface RequestedCall extends BridgedCall {
  /** The catalog that the caller has read; the one of the attempt when absent. */
  catalogDigest?: string;
  /** Who calls, as the audit log names them. */
  actor: string;
  /** While it is not aborted, the decision of an approval is waited for. */
  waits?: AbortSignal;
  /** How long the end of the call is waited for, in milliseconds; as long as callers usually wait when absent. */
  withinMs?: number;
}

/**
 * Calls a tool for an attempt: checked, permitted and approved before it is written down, then dispatched once or never by a
 * workflow. A repeated operation is the same call, whatever became of the run and the catalog meanwhile.
 *
 * @throws AppError 400, 403, 404, 409, or 503 `TOOL_CALL_PENDING` when the tool takes longer than a caller waits
 */
export async function callTool(
  context: ToolCallContext,
  record: AttemptRecord,
  requested: RequestedCall,
): Promise<ToolCall> {
  const id = toolCallIdOf(record._id, requested.operationId);
  const { withinMs } = requested;
  const earlier = await context.toolCalls.get(id);
  if (earlier) {
    assertSame(earlier, requested);
    return ended(context, record, { call: earlier, replayed: true, withinMs });
  }
  const call = await context.toolCalls.request(await permitted(context, record, { id, requested }));
  assertSame(call, requested);
  return ended(context, record, { call, replayed: false, withinMs });
}

/** Joins a call that was requested before. */
export const joinCall = (context: ToolCallContext, record: AttemptRecord, call: ToolCallRecord): Promise<ToolCall> =>
  ended(context, record, { call, replayed: true, withinMs: undefined });

/** The request, after every check. */
async function permitted(
  context: ToolCallContext,
  record: AttemptRecord,
  { id, requested }: { id: string; requested: RequestedCall },
): Promise<ToolCallRecord & { arguments: Record<string, unknown> }> {
  const { serverId, tool, arguments: values, catalogDigest, actor, waits } = requested;
  const attemptId = record._id;
  assertRunning(record);
  const catalog = await catalogOf(context, attemptId);
  if (catalogDigest !== undefined && catalogDigest !== catalog.digest) {
    throw conflict(
      'The catalog of the attempt is another one.',
      { attemptId, catalogDigest: catalog.digest, current: { catalogDigest: catalog.digest } },
      'TOOL_CATALOG_MISMATCH',
    );
  }
  const called = calledTool(catalog, requested);
  assertArguments(called.tool, values);
  await assertUnchanged(context, called.server);
  const approvalId = (await needsApproval(context, { record, called, callId: id }))
    ? await approvalOfCall(context, {
        record,
        call: { callId: id, serverId, tool, arguments: values, catalogDigest: catalog.digest },
        waits,
      })
    : undefined;
  if (approvalId !== undefined && waits) {
    // A decision takes its time: what the rules forbid by then is not done.
    await needsApproval(context, { record, called, callId: id });
  }
  return {
    id,
    taskId: record.taskId,
    attemptId,
    catalogDigest: catalog.digest,
    serverId,
    tool,
    arguments: values,
    argumentsDigest: digestOf(values),
    requestedBy: actor,
    state: 'requested',
    createdAt: context.now().toISOString(),
    ...compact({ approvalId }),
  };
}

/** @throws AppError 409 `TOOL_OPERATION_REUSED` when the operation is another call */
function assertSame(call: ToolCallRecord, { serverId, tool, arguments: values, catalogDigest }: RequestedCall): void {
  const isSame =
    call.serverId === serverId &&
    call.tool === tool &&
    call.argumentsDigest === digestOf(values) &&
    (catalogDigest === undefined || call.catalogDigest === catalogDigest);
  if (!isSame) {
    throw conflict(
      'The operationId belongs to another call; use a new one.',
      { callId: call.id, current: { serverId: call.serverId, tool: call.tool, state: call.state } },
      'TOOL_OPERATION_REUSED',
    );
  }
}

const isOver = ({ state }: ToolCallRecord): boolean => state !== 'requested' && state !== 'dispatched';

/** Time for the worker beside the start of the server and the call, in milliseconds. */
const marginMs = 30_000;

async function ended(
  context: ToolCallContext,
  record: AttemptRecord,
  { call, replayed, withinMs }: { call: ToolCallRecord; replayed: boolean; withinMs: number | undefined },
): Promise<ToolCall> {
  if (isOver(call)) {
    return present(call, replayed);
  }
  const definition = await context.toolServers.definition(call.serverId);
  const times = definition ?? { startupTimeoutMs: 0, toolTimeoutMs: 0 };
  await context.makeToolCall({
    taskId: record.taskId,
    attemptId: record._id,
    callId: call.id,
    // A server that failed is waited for as long as it may take to start, and started then.
    ...compact({ withinMs }),
    timeoutMs: 2 * times.startupTimeoutMs + times.toolTimeoutMs + marginMs,
  });
  return present((await context.toolCalls.get(call.id)) ?? call, replayed);
}

const present = ({ arguments: _arguments, ...call }: ToolCallRecord, replayed: boolean): ToolCall => ({
  schemaVersion: 'tool-call/v1',
  ...call,
  replayed,
});
