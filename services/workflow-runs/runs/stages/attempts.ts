import type { GraphNode } from '../../graph/graph';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import type { StageContext } from '../execution/stages';

/** The pause before the first retry, which is doubled from then on, and the longest, in milliseconds. */
const pause = { first: 1_000, longest: 600_000 };

/**
 * Waits until the next attempt of a stage may begin, and returns its number: 1, 2 …
 *
 * @throws SuspendedError when the execution continues as new first
 */
export async function nextAttempt(
  { id }: GraphNode,
  underWay: StageUnderWay,
  { continuation }: StageContext,
): Promise<number> {
  const { untilMs, attempt = 1 } = underWay;
  if (untilMs !== undefined) {
    await continuation.wait(() => false, { untilMs, summary: `next attempt of ${id}` });
  }
  if (continuation.isDue) {
    throw new SuspendedError();
  }
  return attempt;
}

/** Has the next attempt begin after a pause. */
export function noteFailure({ retryDelayMs = pause.first }: GraphNode, underWay: StageUnderWay, attempt: number): void {
  underWay.attempt = attempt + 1;
  underWay.untilMs = Date.now() + Math.min(retryDelayMs * 2 ** (attempt - 1), Math.max(pause.longest, retryDelayMs));
}
