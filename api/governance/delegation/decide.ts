import { createHash } from 'node:crypto';
import type { PermissionApproval } from '../../../contracts/governance/agent-permission';
import type { DelegatedApproval, Delegation } from '../../../contracts/governance/delegation';
import type { Task } from '../../../contracts/tasks/task';
import { outsideReason, scopeFactsOf, undelegatedReason } from '../../../domain/delegation/scope';
import { decidePermission } from '../../../domain/governance/agent-permission';
import { AppError, assertFound } from '../../../platform/errors/app-error';
import type { ApiContext } from '../../context';
import { type Review, reviewApproval } from '../agent-permissions/review';

export type DelegationContext = Pick<
  ApiContext,
  'agentPermissions' | 'board' | 'delegations' | 'permissionApprovals' | 'traces'
>;

const refused = (message: string, details: Record<string, unknown> = {}): AppError =>
  new AppError('FORBIDDEN', { status: 403, message, details });

/** The delegation of the caller that counts now. @throws AppError 403 when there is none */
async function ownDelegation({ delegations }: DelegationContext, actor: string): Promise<Delegation> {
  const delegation = await delegations.active();
  if (delegation === null || actor !== `agent:${delegation.delegateAgent}`) {
    throw refused('No delegation lets the caller decide approvals now.');
  }
  return delegation;
}

/**
 * The task of an approval that a delegation is about, by what it was at the request and by what it is.
 *
 * @throws AppError 403 with the reason when it is about none
 */
async function assertDelegated(
  { agentPermissions, board, permissionApprovals }: DelegationContext,
  delegation: Delegation,
  approval: PermissionApproval,
): Promise<Task> {
  const details = { approvalId: approval.id, delegationId: delegation.id };
  const { rule, reason } = decidePermission(await agentPermissions.get(delegation.delegateAgent), 'approve');
  const task = approval.taskId === undefined ? undefined : (await board.get(approval.taskId))?.task;
  if (!task) {
    throw refused('It is the request of no task, so that it is in the scope of no delegation.', details);
  }
  const requested = await permissionApprovals.requestedFacts(approval.id);
  if (!requested) {
    throw refused('What its task was at the request is not known: an administrator decides it.', details);
  }
  const because =
    (rule === 'restriction' ? reason : undefined) ??
    undelegatedReason(delegation, approval) ??
    outsideReason(delegation, requested) ??
    outsideReason(delegation, scopeFactsOf(task));
  if (because !== undefined) {
    throw refused(because, details);
  }
  return task;
}

/**
 * Reviews a permission request for the caller's delegation. It is noted in the log before, so that no decision is without its
 * entry.
 *
 * @throws AppError 403 with the reason, 404, 409 with the record when it was reviewed before
 */
export async function decideAsDelegate(context: DelegationContext, approvalId: string, review: Review) {
  const { delegations, permissionApprovals } = context;
  const { actor } = review.auth;
  const approval = await permissionApprovals.get(approvalId);
  assertFound(approval, 'approval', approvalId);
  const delegation = await ownDelegation(context, actor);
  const task = await assertDelegated(context, delegation, approval);
  const reviewedAt = new Date().toISOString();
  const entry: DelegatedApproval = {
    id: entryIdOf(approvalId, review.decision, reviewedAt),
    kind: 'permission-approval',
    taskId: task.id,
    taskTitle: task.title,
    agent: delegation.delegateAgent,
    delegated: true,
    approvalId,
    decision: review.decision,
    timestamp: reviewedAt,
    originalDelegation: delegation,
  };
  await delegations.note(entry, { confirmed: false });
  try {
    // Revoked or expired meanwhile: it counts at the moment of the decision.
    await ownDelegation(context, actor);
    return await reviewApproval(context, approvalId, { ...review, reviewedAt });
  } finally {
    await settle(context, entry);
  }
}

/** The same for the same decision at the same moment: two of these are one. */
const entryIdOf = (...of: [approvalId: string, decision: string, at: string]): string =>
  `delegated_${createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 12)}`;

/** Keeps the entry of a decision that was made, and discards that of one that was not. */
async function settle(
  { delegations, permissionApprovals }: Pick<DelegationContext, 'delegations' | 'permissionApprovals'>,
  { id, agent, approvalId = '', decision, timestamp }: DelegatedApproval,
): Promise<void> {
  const approval = await permissionApprovals.get(approvalId);
  const isMade =
    approval?.status === decision && approval?.reviewedBy === `agent:${agent}` && approval.reviewedAt === timestamp;
  await (isMade ? delegations.confirm(id) : delegations.discard(id));
}

/** How long a decision may take before its entry is settled by the next reader, in milliseconds. */
const settledAfterMs = 60_000;

/** Settles the entries of decisions whose process died before it could; one that was made is shown at once. */
export async function settleInterrupted(
  context: Pick<DelegationContext, 'delegations' | 'permissionApprovals'>,
  now: Date,
): Promise<void> {
  for (const entry of await context.delegations.unconfirmed()) {
    const approval = await context.permissionApprovals.get(entry.approvalId ?? '');
    const isOver = approval?.status !== 'pending' || now.getTime() - Date.parse(entry.timestamp) > settledAfterMs;
    if (isOver) {
      await settle(context, entry);
    }
  }
}
