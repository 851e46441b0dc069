import type { WorkflowRunsContext } from './context';

/** Everything the workflows of this service call. */
export function createWorkflowRunsActivities(_context: WorkflowRunsContext) {
  return {};
}
