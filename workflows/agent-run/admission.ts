import { condition, patched } from '@temporalio/workflow';
import type { Refusal } from '../../contracts/refusal';
import { admission } from './proxies';

/** A queued run as its wait reads it. */
export interface WaitingRun {
  readonly attemptId: string;
  readonly stop: object | undefined;
  hasCapacity: boolean;
}

/**
 * Waits for the run's turn in the queue, then has everything it was decided on checked once more. Returns why the launch is
 * refused, if it is; a stop also ends the wait.
 */
export async function awaitTurn(run: WaitingRun): Promise<Refusal | undefined> {
  for (;;) {
    await condition(() => run.hasCapacity || run.stop !== undefined);
    if (run.stop !== undefined || !patched('confirm-dispatch')) {
      return undefined;
    }
    run.hasCapacity = false;
    const confirmed = await admission.confirmDispatch({ attemptId: run.attemptId });
    if (confirmed.turn === 'go') {
      return undefined;
    }
    if (confirmed.turn === 'refused') {
      return confirmed.launch;
    }
  }
}
