import type { RunsContext } from './runs/context';
import { createRunActivities } from './runs/activities';
import { dryModel } from './runs/dry-model';

/** Everything the workflows of this service call. */
export function createWorkflowRunsActivities(runs: RunsContext) {
  return { ...createRunActivities({ ...runs, model: dryModel }) };
}
