import type { WorkflowToolCall } from '../../../contracts/integrations/workflow-tools';
import { compact } from '../../../platform/json/compact';
import type { WorkflowToolCatalogStore } from '../tool-catalog-store';
import type { ToolServerStore } from '../tool-server-store';
import type { WorkflowToolCallRecord, WorkflowToolCallStore } from './call-store';

export interface MakeCallDependencies {
  toolServers: Pick<ToolServerStore, 'definition'>;
  workflowToolCalls: Pick<WorkflowToolCallStore, 'get'>;
  workflowToolCatalogs: Pick<WorkflowToolCatalogStore, 'get'>;
  /** Has the workflow of a call make it, or joins it. */
  makeWorkflowToolCall: (call: {
    callId: string;
    runId: string;
    stageId: string;
    hostId: string;
    timeoutMs: number;
    withinMs?: number;
  }) => Promise<unknown>;
}

/** Time for the worker beside the start of the server and the call, in milliseconds. */
const marginMs = 30_000;

/**
 * Has an admitted call made, once, and waits for its end.
 *
 * @throws AppError 503 `TOOL_CALL_PENDING` when that takes longer than `withinMs`: it continues
 */
export async function makeWorkflowCall(
  { toolServers, workflowToolCalls, workflowToolCatalogs, makeWorkflowToolCall }: MakeCallDependencies,
  call: WorkflowToolCallRecord,
  { withinMs }: { withinMs?: number } = {},
): Promise<WorkflowToolCallRecord> {
  if (call.state !== 'requested' && call.state !== 'dispatched') {
    return call;
  }
  const [definition, catalog] = await Promise.all([
    toolServers.definition(call.serverId),
    workflowToolCatalogs.get(call.holder),
  ]);
  const { startupTimeoutMs, toolTimeoutMs } = definition ?? { startupTimeoutMs: 0, toolTimeoutMs: 0 };
  await makeWorkflowToolCall({
    ...{ callId: call.id, runId: call.runId, stageId: call.stageId, hostId: catalog?.hostId ?? '' },
    ...compact({ withinMs }),
    timeoutMs: 2 * startupTimeoutMs + toolTimeoutMs + marginMs,
  });
  return (await workflowToolCalls.get(call.id)) ?? call;
}

/** A call as callers read it. */
export const presentWorkflowCall = (
  { arguments: _arguments, holder: _holder, ...call }: WorkflowToolCallRecord,
  replayed: boolean,
): WorkflowToolCall => ({ schemaVersion: 'workflow-tool-call/v1', ...call, replayed });
