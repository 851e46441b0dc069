import { setHandler } from '@temporalio/workflow';
import { approvalChanged } from './messages';
import type { OperatorView } from './operator-view';

/** Shows operators that the run waits for an approval, and that it continues. */
export function showApprovals(run: { readonly end: unknown; readonly view: OperatorView }): void {
  const pending = new Set<string>();
  setHandler(approvalChanged, ({ approvalId, status }) => {
    if (status === 'pending') {
      pending.add(approvalId);
    } else {
      pending.delete(approvalId);
    }
    if (run.end !== undefined) {
      return;
    }
    const waits = pending.size > 0;
    if (waits) {
      run.view.setState('waiting-for-approval', `It waits for approval: ${[...pending].join(', ')}.`);
    } else {
      run.view.setState('running', 'It goes on after a decision.');
    }
  });
}
