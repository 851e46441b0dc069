import type { Approvals } from '../approvals/approvals';
import type { ApprovalStore } from '../stores/approval-store';

/** How many requests are seen to at a time. */
const batch = 200;

/**
 * Sees to it that every pending request for approval has its workflow: whoever asked may have died between writing the
 * record and starting it, and Temporal's database may have been lost.
 *
 * @param options.overdueOnly only those whose time is over, which a running workflow would have ended
 */
export async function reconcileApprovals(
  { store, service }: { store: ApprovalStore; service: Approvals },
  { overdueOnly }: { overdueOnly: boolean },
): Promise<void> {
  const now = new Date().toISOString();
  for (const approval of await store.pending(batch)) {
    if (!overdueOnly || approval.expiresAt < now) await service.supervise(approval);
  }
}
