import { setHandler } from '@temporalio/workflow';
import type { RunStory } from './story';
import { approvalChanged } from './messages';

/** Shows operators while the run waits for somebody's approval, and when it goes on. */
export function showApprovals(run: { readonly end: unknown; readonly story: RunStory }): void {
  const pending = new Set<string>();
  setHandler(approvalChanged, ({ approvalId, status }) => {
    if (status === 'pending') pending.add(approvalId);
    else pending.delete(approvalId);
    if (run.end !== undefined) return;
    const waits = pending.size > 0;
    if (waits) run.story.become('waiting-for-approval', `It waits for approval: ${[...pending].join(', ')}.`);
    else run.story.become('running', 'It goes on after a decision.');
  });
}
