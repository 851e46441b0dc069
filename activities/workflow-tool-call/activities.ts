import { ApplicationFailure } from '@temporalio/common';
import type { ToolCallState } from '../../contracts/integrations/tool-call';
import { isStillCallable } from '../../domain/tool-servers/catalog';
import { toolServerChanged } from '../../domain/tool-servers/refusals';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { ToolServerPool } from '../../providers/tool-servers/pool';
import type { WorkflowToolCatalogStore } from '../../stores/integrations/tool-catalog-store';
import type { ToolServerStore } from '../../stores/integrations/tool-server-store';
import type {
  WorkflowToolCallRecord,
  WorkflowToolCallStore,
} from '../../stores/integrations/workflow-tools/call-store';
import { sendCall, settleCall } from '../tool-call/send';

interface CallRef {
  callId: string;
}

interface RecordDependencies {
  workflowToolCalls: WorkflowToolCallStore;
  now(): Date;
}

export interface WorkflowToolCallDependencies extends RecordDependencies {
  workflowToolCatalogs: Pick<WorkflowToolCatalogStore, 'get'>;
  toolServers: Pick<ToolServerStore, 'definition'>;
  pool: Pick<ToolServerPool, 'use' | 'close'>;
}

/** What a worker of the catalog's host does of a call of a stage. */
export function createWorkflowToolCallActivities(deps: WorkflowToolCallDependencies) {
  return {
    /**
     * Sends the call to a server that is started for it and ended after it, once or never: a call that is taken already, or whose
     * server is not the one of the catalog any more, is not sent.
     */
    async runWorkflowToolCall({ callId }: CallRef): Promise<void> {
      const call = await mustGet(deps, callId);
      if (call.state !== 'requested') {
        return;
      }
      const definition = await deps.toolServers.definition(call.serverId);
      const end = (outcome: Parameters<WorkflowToolCallStore['end']>[1]['end']) =>
        deps.workflowToolCalls.end(callId, {
          from: ['requested', 'dispatched'],
          end: outcome,
          at: deps.now().toISOString(),
        });
      const catalog = await deps.workflowToolCatalogs.get(call.holder);
      if (!definition || !isStillCallable(call, catalog, definition)) {
        await end({ state: 'failed', error: toolServerChanged(call.serverId) });
        return;
      }
      const key = `workflow-tool-call/${callId}`;
      try {
        const outcome = await withHeartbeat((signal) =>
          sendCall(
            {
              pool: deps.pool,
              take: () => deps.workflowToolCalls.dispatch(callId, deps.now().toISOString()),
            },
            { definition, key, tool: call.tool, signal },
          ),
        );
        if (outcome) {
          await end(outcome);
        }
      } finally {
        await deps.pool.close(key);
      }
    },
  };
}

export type WorkflowToolCallActivities = ReturnType<typeof createWorkflowToolCallActivities>;

/** What needs the stores alone. */
export function createWorkflowToolCallRecordActivities(deps: RecordDependencies) {
  return {
    /** Gives a call without an end one: it was not sent, or its response was lost. Returns how it stands. */
    async settleWorkflowToolCall({ callId }: CallRef): Promise<ToolCallState> {
      await settleCall(deps.workflowToolCalls, callId, { notSent, at: deps.now().toISOString() });
      return (await mustGet(deps, callId)).state;
    },
  };
}

export type WorkflowToolCallRecordActivities = ReturnType<typeof createWorkflowToolCallRecordActivities>;

const notSent = {
  code: 'worker-unavailable',
  message: 'No worker of the host of the catalog took the call in time; it was not sent.',
  remedy: 'Call again with a new operationId once the host has a worker.',
};

/** @throws ApplicationFailure for a call that was not requested */
async function mustGet({ workflowToolCalls }: RecordDependencies, callId: string): Promise<WorkflowToolCallRecord> {
  const call = await workflowToolCalls.get(callId);
  if (!call) {
    throw ApplicationFailure.nonRetryable(`No call ${callId}.`, 'TOOL_CALL_MISSING');
  }
  return call;
}
