import type { Client } from '@temporalio/client';
import type { ToolCallState } from '../../contracts/integrations/tool-call';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { type ToolCallInput, toolCallWorkflowId } from './messages';

/** Has a requested call made, or joins the execution that makes it. */
export type MakeToolCall = (
  call: Omit<ToolCallInput, 'heartbeatTimeoutMs'> & { taskId: string; withinMs?: number },
) => Promise<ToolCallState>;

/** @throws AppError 503 `TOOL_CALL_PENDING` when it takes longer than a caller waits: it continues */
export const createToolCaller =
  (
    client: Client,
    { heartbeatTimeoutMs, workspaceId }: { heartbeatTimeoutMs: number; workspaceId: string },
  ): MakeToolCall =>
  ({ taskId, attemptId, callId, timeoutMs, withinMs }) =>
    withinDeadline(client, { pending: () => pending(attemptId, callId), ...compact({ withinMs }) }, () =>
      client.workflow.execute<(input: ToolCallInput) => Promise<ToolCallState>>('toolCall', {
        workflowId: toolCallWorkflowId(callId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `tool call in ${taskId}`,
        typedSearchAttributes: [
          { key: searchAttributes.taskId, value: taskId },
          { key: searchAttributes.attemptId, value: attemptId },
          { key: searchAttributes.workspaceId, value: workspaceId },
        ],
        args: [{ attemptId, callId, timeoutMs, heartbeatTimeoutMs }],
      }),
    );

const pending = (attemptId: string, callId: string) =>
  new AppError('TOOL_CALL_PENDING', {
    status: 503,
    message: 'The tool still runs. Repeat the request with the same operationId to wait for the same call.',
    details: { attemptId, callId, retryAfterMs: 1_000 },
  });
