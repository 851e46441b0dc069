import type { Client } from '@temporalio/client';
import type { ToolCallState } from '../../contracts/integrations/tool-call';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { workflowToolCallId, type WorkflowToolCallInput } from './messages';

/** Has a requested call of a stage made, or joins the execution that makes it. */
export type MakeWorkflowToolCall = (
  call: Omit<WorkflowToolCallInput, 'heartbeatTimeoutMs'> & { runId: string; stageId: string; withinMs?: number },
) => Promise<ToolCallState>;

/** @throws AppError 503 `TOOL_CALL_PENDING` when it takes longer than a caller waits: it continues */
export const createWorkflowToolCaller =
  (
    client: Client,
    { heartbeatTimeoutMs, workspaceId }: { heartbeatTimeoutMs: number; workspaceId: string },
  ): MakeWorkflowToolCall =>
  ({ runId, stageId, withinMs, ...call }) =>
    withinDeadline(client, { pending: () => pending(runId, call.callId), ...compact({ withinMs }) }, () =>
      client.workflow.execute<(input: WorkflowToolCallInput) => Promise<ToolCallState>>('workflowToolCall', {
        workflowId: workflowToolCallId(call.callId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `tool call of ${stageId} in the run ${runId}`,
        typedSearchAttributes: [{ key: searchAttributes.workspaceId, value: workspaceId }],
        args: [{ ...call, heartbeatTimeoutMs }],
      }),
    );

/** The call is still being made. */
export const toolCallPending = 'TOOL_CALL_PENDING';

const pending = (runId: string, callId: string) =>
  new AppError(toolCallPending, {
    status: 503,
    message: 'The tool still runs. Repeat the request with the same operationId to wait for the same call.',
    details: { runId, callId, retryAfterMs: 1_000 },
  });
