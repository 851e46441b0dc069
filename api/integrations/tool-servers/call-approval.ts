import type { RunApproval } from '../../../contracts/runs/approval';
import { riskOf } from '../../../domain/approvals/risk';
import { AppError, conflict } from '../../../platform/errors/app-error';
import { digestOf } from '../../../platform/json/digest';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';

export type CallApprovalContext = Pick<WorkflowContext, 'approvalRequests' | 'toolCalls' | 'workspaceId' | 'now'>;

/** A call that needs an approval. */
export interface ApprovedCall {
  callId: string;
  serverId: string;
  tool: string;
  arguments: Record<string, unknown>;
  catalogDigest: string;
}

/** How often exactly the same call of an attempt may be approved: the approvals are numbered. */
const mostApprovals = 200;

/**
 * The approval that lets this call through. It is of exactly this tool with these arguments in this attempt: another operation that
 * requests the same waits for the same approval, and each approval is used for one operation.
 *
 * @param waits while it is not aborted, a decision is waited for; not at all when absent
 * @throws AppError 409 `TOOL_APPROVAL_REQUIRED` with the approval, 403 `TOOL_CALL_REJECTED`
 */
export async function approvalOfCall(
  context: CallApprovalContext,
  { record, call, waits }: { record: AttemptRecord; call: ApprovedCall; waits: AbortSignal | undefined },
): Promise<string> {
  const { callId, serverId, tool, arguments: values } = call;
  const identity = digestOf({ serverId, tool, arguments: values }).slice('sha256:'.length);
  for (let number = 1; number <= mostApprovals; number += 1) {
    const requested = await context.approvalRequests.request(requestOf(context, record, { call, identity, number }));
    const usedFor = await context.toolCalls.approvalUse(requested.id);
    if (usedFor === callId) {
      return requested.id;
    }
    // Used for another operation, or not decided in time: the next one is requested.
    if (usedFor !== undefined || requested.status === 'expired') {
      continue;
    }
    const decided = requested.status === 'pending' && waits ? await settled(context, requested, waits) : requested;
    assertApproved(decided, call);
    if ((await context.toolCalls.useApproval(decided.id, callId, context.now().toISOString())) === callId) {
      return decided.id;
    }
  }
  throw conflict(
    `This call was requested ${mostApprovals} times in this run.`,
    { serverId, tool },
    'TOOL_CALL_REPEATED',
  );
}

function requestOf(
  { workspaceId }: CallApprovalContext,
  record: AttemptRecord,
  { call, identity, number }: { call: ApprovedCall; identity: string; number: number },
) {
  const { serverId, tool, arguments: values, catalogDigest } = call;
  return {
    workspaceId,
    taskId: record.taskId,
    attemptId: record._id,
    provider: record.provider,
    agentId: record.agent,
    actionClass: 'tool' as const,
    action: `Call the tool ${tool} of ${serverId}`,
    providerRequestId: `tool-call/${identity.slice(0, 48)}/${number}`,
    details: { serverId, tool, arguments: values, catalogDigest },
    resourceScope: [`${serverId}/${tool}`],
    riskClass: riskOf('tool'),
    policyReason: 'The definition of the tool server, or a rule of the board, requires an approval of this call.',
  };
}

async function settled(
  { approvalRequests }: CallApprovalContext,
  requested: RunApproval,
  waits: AbortSignal,
): Promise<RunApproval> {
  try {
    return await approvalRequests.settled(requested.id, waits);
  } catch (error) {
    if (waits.aborted) {
      return requested;
    }
    throw error;
  }
}

function assertApproved(approval: RunApproval, { serverId, tool }: ApprovedCall): void {
  const { id, status, revision, actionHash, expiresAt, resolution } = approval;
  const details = { serverId, tool, approvalId: id, approval: { id, status, revision, actionHash, expiresAt } };
  switch (status) {
    case 'approved':
      return;
    case 'pending':
    case 'expired':
      throw conflict(
        `The call of ${tool} needs the approval ${id}: an administrator decides it with POST /api/run-approvals/${id}/decision; ` +
          'then repeat the request.',
        details,
        'TOOL_APPROVAL_REQUIRED',
      );
    case 'rejected':
      throw new AppError('TOOL_CALL_REJECTED', {
        status: 403,
        message: `The call of ${tool} with these arguments was rejected${resolution?.note === undefined ? '.' : `: ${resolution.note}`}`,
        details,
      });
    case 'cancelled':
      throw conflict(
        'The run has ended; its tools can be called no more.',
        { attemptId: approval.attemptId },
        'RUN_ENDED',
      );
  }
}
