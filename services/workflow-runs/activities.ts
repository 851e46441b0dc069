import type { WorkflowRunsContext } from './context';
import { createSessionActivities } from './sessions/activities';

/** Everything the workflows of this service call. */
export function createWorkflowRunsActivities(context: WorkflowRunsContext) {
  return { ...createSessionActivities(context) };
}
