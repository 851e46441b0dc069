import { AppError } from '../../platform/errors/app-error';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import { awaitCall } from '../../services/workflow-runs/runs/stages/await-tool';
import type {
  ToolActivities,
  ToolCallInput,
  ToolCallProgress,
} from '../../services/workflow-runs/runs/stages/tool-messages';
import { progressOf, refusedCall } from '../../services/workflow-runs/runs/stages/tool-output';
import type { PermissionApprovalStore } from '../../stores/governance/permission-approval-store';
import {
  type AdmitCallDependencies,
  admitWorkflowCall,
  awaitedApproval,
} from '../../stores/integrations/workflow-tools/admit-call';
import { boardToolHolder, type ToolHolder } from '../../stores/integrations/workflow-tools/holder';
import {
  type MakeCallDependencies,
  makeWorkflowCall,
  presentWorkflowCall,
} from '../../stores/integrations/workflow-tools/make-call';
import {
  type OpenCatalogDependencies,
  openWorkflowCatalog,
} from '../../stores/integrations/workflow-tools/open-catalog';
import { withdrawApproval } from '../../stores/integrations/workflow-tools/withdraw-approval';
import type { WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';

export interface StepToolDependencies extends AdmitCallDependencies, OpenCatalogDependencies, MakeCallDependencies {
  workflowRuns: Pick<WorkflowRunStore, 'get'>;
  workflowToolCalls: AdmitCallDependencies['workflowToolCalls'];
  workflowToolCatalogs: OpenCatalogDependencies['workflowToolCatalogs'];
  permissionApprovals: Pick<PermissionApprovalStore, 'get' | 'review'>;
  now(): Date;
}

/** Calls of tools for the steps of workflow runs, in the name of who started the run. */
export function createStepToolActivities(deps: StepToolDependencies): ToolActivities {
  async function holderOf(runId: string): Promise<ToolHolder | undefined> {
    const run = await deps.workflowRuns.get(runId);
    return run && boardToolHolder(runId, run.created_by);
  }

  async function call(input: ToolCallInput, withinMs: number): Promise<ToolCallProgress> {
    const { runId, stageId, operation, catalog, server, tool, arguments: values } = input;
    const holder = await holderOf(runId);
    if (!holder) {
      return refusedCall('NOT_FOUND', 'The run does not exist.');
    }
    const requested = { stageId, operationId: operation, catalogDigest: catalog, serverId: server, tool };
    try {
      const { call: admitted, replayed } = await admitWorkflowCall(deps, holder, { ...requested, arguments: values });
      return progressOf(presentWorkflowCall(await makeWorkflowCall(deps, admitted, { withinMs }), replayed));
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      return progressOfError(error);
    }
  }

  return {
    /** A server that cannot be used fails the step: the workers of this host could not use it. */
    openToolCatalog: ({ runId, servers }) =>
      withHeartbeat(async (signal) => {
        const holder = await holderOf(runId);
        if (!holder) {
          return { failed: 'The run does not exist.' };
        }
        const opened = await openWorkflowCatalog(deps, holder, { toolServers: servers, signal });
        return 'code' in opened ? { failed: `${opened.code}: ${opened.message}` } : { digest: opened.digest };
      }),

    callTool: (input) => awaitCall(call, input),

    async withdrawToolCall({ runId, approvalId }) {
      const holder = await holderOf(runId);
      if (holder) {
        await withdrawApproval(deps, holder, approvalId);
      }
    },
  };
}

function progressOfError(error: AppError): ToolCallProgress {
  const { code, message, status, details } = error;
  const approvalId = awaitedApproval(error);
  if (approvalId !== undefined) {
    return { state: 'approval', approvalId, reason: message };
  }
  if (code === 'TOOL_CALL_PENDING') {
    return { state: 'running' };
  }
  if (status >= 500) {
    return { state: 'waiting', reason: `${code}: ${message}` };
  }
  const issues = ((details['issues'] ?? []) as { path: string; message: string }[]).map(
    (issue) => `${issue.path}: ${issue.message}`,
  );
  return refusedCall(code, [message, ...issues].join(' '));
}
