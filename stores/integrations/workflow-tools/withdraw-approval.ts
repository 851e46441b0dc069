import type { PermissionApprovalStore } from '../../governance/permission-approval-store';
import type { ToolHolder } from './holder';

/**
 * Ends a pending approval of a call whose stage waits no longer, so that no person reviews it in vain.
 *
 * @returns whether it was pending; `undefined` when the run has requested no such approval
 */
export async function withdrawApproval(
  {
    permissionApprovals,
    now,
  }: { permissionApprovals: Pick<PermissionApprovalStore, 'get' | 'review'>; now: () => Date },
  { runId, actor }: ToolHolder,
  approvalId: string,
): Promise<boolean | undefined> {
  const approval = await permissionApprovals.get(approvalId);
  if (approval?.requestedBy !== actor || approval.action !== 'tool' || approval.details?.['runId'] !== runId) {
    return undefined;
  }
  const reviewed = await permissionApprovals.review(approvalId, {
    ...{ status: 'rejected', reviewedBy: 'system:workflow-run', reviewedAt: now().toISOString() },
    note: 'The stage of the run waits no longer.',
  });
  return reviewed !== undefined;
}
