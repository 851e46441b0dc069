import type { ApprovalStore } from '../stores/runs/approval-store';
import type { Approvals } from '../workflows/run-approval/client';

/**
 * Ensures that every pending request for approval has its workflow: the requester may have died between writing the record and
 * starting it, and Temporal's database may have been lost.
 *
 * @param options.overdueOnly only those whose time is over, which a running workflow would have ended
 * @throws AggregateError when some could not be reconciled; every other one has been
 */
export async function reconcileApprovals(
  { store, service }: { store: Pick<ApprovalStore, 'pending'>; service: Pick<Approvals, 'supervise'> },
  { overdueOnly, pageSize }: { overdueOnly: boolean; pageSize?: number },
): Promise<void> {
  const overdue = overdueOnly ? { overdueAt: new Date().toISOString() } : {};
  const failures: unknown[] = [];
  for await (const approval of store.pending({ pageSize, ...overdue })) {
    await service.supervise(approval).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} approvals could not be reconciled.`);
  }
}
