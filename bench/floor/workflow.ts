import {
  condition,
  defineSignal,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { FloorActivities } from './activities';

const { step } = proxyActivities<FloorActivities>({ startToCloseTimeout: '1 minute' });

const local = proxyLocalActivities<FloorActivities>({ startToCloseTimeout: '1 minute' });

export const launched = defineUpdate<string>('launched');
export const reported = defineUpdate<string>('reported');
export const over = defineSignal('over');

/** An activity for each step of a run, with nothing in it: what Temporal itself costs. */
export async function floor(): Promise<void> {
  let running = false;
  setHandler(launched, async () => {
    await condition(() => running);
    return 'running';
  });
  await step('admit');
  await step('prepare');
  running = true;
  await step('dispatch');
  await step('finish');
}

/** So many activities, one after the other, with nothing in them. */
export async function floorSteps(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await step(`step ${n}`);
  }
}

/** A run that can be spoken to: an update is checked in the workflow's worker, and handed over by an activity. */
export async function floorConversation(): Promise<void> {
  let ended = false;
  setHandler(over, () => {
    ended = true;
  });
  setHandler(reported, async () => {
    await local.step('accept');
    return step('deliver');
  });
  await condition(() => ended);
}

/** One activity that a worker has when it is killed; @returns when the next one had it, in milliseconds since the epoch. */
export async function floorHeld(options: { heartbeatTimeoutMs: number; backoffMs: number }): Promise<number> {
  const { hold } = proxyActivities<FloorActivities>({
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: options.heartbeatTimeoutMs,
    retry: { initialInterval: options.backoffMs },
  });
  return hold();
}
