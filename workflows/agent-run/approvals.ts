import { setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { approvalChanged } from './messages';

/** Shows operators while the run waits for somebody's approval, and when it goes on. */
export function showApprovals(run: { readonly end: unknown }): void {
  const pending = new Set<string>();
  setHandler(approvalChanged, ({ approvalId, status }) => {
    if (status === 'pending') pending.add(approvalId);
    else pending.delete(approvalId);
    if (run.end !== undefined) return;
    const waits = pending.size > 0;
    upsertSearchAttributes([{ key: searchAttributes.runState, value: waits ? 'waiting-for-approval' : 'running' }]);
    setCurrentDetails(waits ? `Waits for approval: ${[...pending].join(', ')}.` : 'Goes on after a decision.');
  });
}
