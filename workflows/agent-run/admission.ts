import { condition, patched } from '@temporalio/workflow';
import type { LaunchRefusal } from '../../contracts/launch';
import { admission } from './activities';

/** A queued run as its wait looks at it. */
export interface WaitingRun {
  readonly attemptId: string;
  readonly stop: object | undefined;
  hasCapacity: boolean;
}

/**
 * Waits until the queue gives the run its turn, and has everything it was decided on looked at once more. Answers why
 * it is over, if it is; a stop also ends the wait.
 */
export async function awaitTurn(run: WaitingRun): Promise<LaunchRefusal | undefined> {
  for (;;) {
    await condition(() => run.hasCapacity || run.stop !== undefined);
    if (run.stop !== undefined || !patched('confirm-dispatch')) return undefined;
    run.hasCapacity = false;
    const confirmed = await admission.confirmDispatch({ attemptId: run.attemptId });
    if (confirmed.turn === 'go') return undefined;
    if (confirmed.turn === 'refused') return confirmed.launch;
  }
}
