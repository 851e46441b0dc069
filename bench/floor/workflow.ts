import { condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import type { FloorActivities } from './activities';

const { step } = proxyActivities<FloorActivities>({ startToCloseTimeout: '1 minute' });

export const launched = defineUpdate<string>('launched');

/** As many activities as a run has, at the same places, with nothing in them: what Temporal itself costs. */
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
