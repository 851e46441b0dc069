import { condition, continueAsNew, proxyActivities, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { TreeActivities } from '../../activities/execution-tree/activities';
import { closedUpdate, type TreeCancelInput } from './messages';

/** Store work and messages to runs: short, idempotent, retried until the stores and Temporal respond. */
const tree = proxyActivities<TreeActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * Cancels one execution tree to the end: no further launches, no queued ones, and every running attempt is interrupted. It
 * continues, whatever dies, until the last of them has ended.
 *
 * @param told how many have been signalled to end so far, when this continues an earlier run
 */
export async function executionTree(
  input: TreeCancelInput,
  told?: { queued: number; interrupted: number },
): Promise<void> {
  let closed = told !== undefined;
  let ended = told ?? { queued: 0, interrupted: 0 };
  setHandler(closedUpdate, async () => {
    await condition(() => closed);
    return { cancelled: true };
  });
  await tree.closeTree(input);
  closed = true;
  for (let first = told === undefined; ; first = false) {
    const look = await tree.drainTree(input);
    // Running attempts are signalled again until they have ended, and counted once.
    ended = { queued: ended.queued + look.queued, interrupted: first ? look.interrupted : ended.interrupted };
    if (look.remaining === 0) {
      break;
    }
    await sleep('1 second', { summary: 'what runs in the tree is ending' });
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof executionTree>(input, ended);
    }
  }
  await tree.settleTree({ ...input, ...ended });
}
