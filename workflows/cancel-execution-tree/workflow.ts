import { condition, continueAsNew, proxyActivities, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { TreeActivities } from '../../activities/cancel-execution-tree/activities';
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
 * @param before how many have been signalled to end so far, when this continues an earlier run
 */
export async function cancelExecutionTree(
  input: TreeCancelInput,
  before?: { queued: number; interrupted: number },
): Promise<void> {
  let closed = before !== undefined;
  let ended = before ?? { queued: 0, interrupted: 0 };
  setHandler(closedUpdate, async () => {
    await condition(() => closed);
    return { cancelled: true };
  });
  await tree.closeTree(input);
  closed = true;
  for (let first = before === undefined; ; first = false) {
    const drained = await tree.drainTree(input);
    // Running attempts are signalled again until they have ended, and counted once.
    ended = { queued: ended.queued + drained.queued, interrupted: first ? drained.interrupted : ended.interrupted };
    if (drained.remaining === 0) {
      break;
    }
    await sleep('1 second', { summary: 'wait for running attempts to end' });
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof cancelExecutionTree>(input, ended);
    }
  }
  await tree.settleTree({ ...input, ...ended });
}
