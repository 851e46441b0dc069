import { proxyActivities } from '@temporalio/workflow';

/** A workflow of someone who reaches Temporal, under the name of ours: it schedules an activity on any queue. */
export const workflowRun = (taskQueue: string, activity: string, input: object): Promise<unknown> =>
  proxyActivities({ taskQueue, startToCloseTimeout: '20 seconds', retry: { maximumAttempts: 1 } })[activity]!(input);
