import type { BridgedCall } from '../../../contracts/integrations/tool-call';
import type { RuleReason } from '../../../domain/governance/action';
import { AppError, conflict } from '../../../platform/errors/app-error';
import { digestOf } from '../../../platform/json/digest';
import type { DecisionPoint } from '../../governance/decision-point';
import { askRules, ruleError } from '../../governance/require-allowed';
import { assertArguments, assertUnchanged, type CalledTool, calledTool } from '../called-tool';
import { toolCallIdOf } from '../tool-call-store';
import type { WorkflowToolCatalogStore } from '../tool-catalog-store';
import type { ToolServerStore } from '../tool-server-store';
import type { WorkflowToolCallRecord, WorkflowToolCallStore } from './call-store';
import type { ToolHolder } from './holder';

export interface AdmitCallDependencies {
  rules: Pick<DecisionPoint, 'decide'>;
  toolServers: Pick<ToolServerStore, 'definition'>;
  workflowToolCalls: WorkflowToolCallStore;
  workflowToolCatalogs: Pick<WorkflowToolCatalogStore, 'get'>;
  now(): Date;
}

/** A call as a stage requests it. */
export interface RequestedWorkflowCall extends Omit<BridgedCall, 'arguments'> {
  arguments: Record<string, unknown>;
  stageId: string;
  catalogDigest: string;
}

/** Tool policies of this role are those of runs of workflows. */
export const workflowRole = 'workflow';

/**
 * Writes down a call that every check has passed: of the catalog, the schema, the definition and the rules of the board. A repeated
 * operation is the same call, whatever became of them meanwhile.
 *
 * @throws AppError 400, 403, 404, 409, `APPROVAL_REQUIRED` among them until a person has approved exactly this call
 */
export async function admitWorkflowCall(
  deps: AdmitCallDependencies,
  { holder, runId, actor }: ToolHolder,
  requested: RequestedWorkflowCall,
): Promise<{ call: WorkflowToolCallRecord; replayed: boolean }> {
  const id = toolCallIdOf(holder, requested.operationId);
  const earlier = await deps.workflowToolCalls.get(id);
  if (earlier) {
    assertSame(earlier, requested);
    return { call: earlier, replayed: true };
  }
  const { stageId, serverId, tool, arguments: values, catalogDigest } = requested;
  const catalog = await deps.workflowToolCatalogs.get(holder);
  if (catalog?.digest !== catalogDigest) {
    throw conflict(
      catalog ? 'The catalog of the run is another one.' : 'The run has no catalog: open it first.',
      { runId, catalogDigest, current: { catalogDigest: catalog?.digest ?? null } },
      'TOOL_CATALOG_MISMATCH',
    );
  }
  const called = calledTool(catalog, requested);
  assertArguments(called.tool, values);
  await assertUnchanged(deps, called.server);
  await assertAllowed(deps, { id, runId, stageId, actor, called, values, catalogDigest });
  const call = await deps.workflowToolCalls.request({
    ...{ id, holder, runId, stageId, catalogDigest, serverId, tool },
    ...{ arguments: values, argumentsDigest: digestOf(values), requestedBy: actor },
    ...{ state: 'requested', createdAt: deps.now().toISOString() },
  });
  assertSame(call, requested);
  return { call, replayed: false };
}

/** @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED` */
async function assertAllowed(
  { rules }: AdmitCallDependencies,
  {
    id,
    runId,
    stageId,
    actor,
    called: { server, tool },
    values,
    catalogDigest,
  }: Pick<ToolHolder, 'runId' | 'actor'> & {
    id: string;
    stageId: string;
    called: CalledTool;
    values: Record<string, unknown>;
    catalogDigest: string;
  },
): Promise<void> {
  const { serverId } = server;
  const names = [`${serverId}/${tool.name}`, 'mcp'];
  const { refused } = await askRules(rules, {
    ...{ action: 'tool', actor, also: names, tools: names, roles: [workflowRole], project: undefined },
    ...(tool.policy === 'approval-required' && { requires: [approvalOf(serverId, tool.name)] }),
    // Another call with the same arguments is another action.
    subject: { call: id, runId, stageId, serverId, tool: tool.name, arguments: values, catalogDigest },
    facts: { runId, stageId },
    change: id,
  });
  if (refused) {
    throw ruleError(refused);
  }
}

const approvalOf = (serverId: string, tool: string): RuleReason => ({
  source: 'tool-server',
  id: serverId,
  decision: 'require-approval',
  reason: `The definition of ${serverId} requires an approval of each call of ${tool}.`,
  remedy: `An administrator changes the definition with PUT /api/tool-servers/${serverId}.`,
});

/** @throws AppError 409 `TOOL_OPERATION_REUSED` when the operation is another call */
function assertSame(call: WorkflowToolCallRecord, requested: RequestedWorkflowCall): void {
  const isSame =
    call.serverId === requested.serverId &&
    call.tool === requested.tool &&
    call.stageId === requested.stageId &&
    call.argumentsDigest === digestOf(requested.arguments) &&
    call.catalogDigest === requested.catalogDigest;
  if (!isSame) {
    throw conflict(
      'The operationId belongs to another call; use a new one.',
      { callId: call.id, current: { serverId: call.serverId, tool: call.tool, state: call.state } },
      'TOOL_OPERATION_REUSED',
    );
  }
}

/** The approval that a refused call waits for; `undefined` for any other error. */
export function awaitedApproval(error: unknown): string | undefined {
  if (!(error instanceof AppError) || error.code !== 'APPROVAL_REQUIRED') {
    return undefined;
  }
  const { approval } = error.details as { approval?: { id?: string } };
  return approval?.id;
}
