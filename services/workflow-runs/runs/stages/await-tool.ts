import { setTimeout as delay } from 'node:timers/promises';
import { withHeartbeat } from '../../../../platform/temporal/heartbeat';
import type { ToolCallInput, ToolCallProgress } from './tool-messages';

/** How often a call is made again that is waited for, in milliseconds. */
const pollMs = 1_000;
/** So long one request waits for the end of its call, in milliseconds. */
const maxWaitMs = 25_000;

/**
 * Makes a call, again and again until what it waits for has changed, or `forMs` milliseconds are over. In an activity.
 *
 * @param call takes how long it may wait for the end of the call, in milliseconds
 */
export const awaitCall = (
  call: (input: ToolCallInput, waitMs: number) => Promise<ToolCallProgress>,
  input: ToolCallInput,
): Promise<ToolCallProgress> =>
  withHeartbeat(async (signal) => {
    const until = Date.now() + input.forMs;
    const waitMs = (): number => Math.max(1, Math.min(maxWaitMs, until - Date.now()));
    for (;;) {
      const progress = await call(input, waitMs());
      const isAwaited =
        progress.state === 'approval'
          ? progress.approvalId === input.approvalId
          : progress.state === 'running' && input.approvalId === undefined;
      if (!isAwaited || Date.now() >= until) {
        return progress;
      }
      await delay(Math.min(pollMs, waitMs()), undefined, { signal });
    }
  });
