// The workflows of this service: the entry of its bundle.
export { workflowRun, workflowRunDispatch } from './runs/execution/workflow';
export { sessionGeneration } from './sessions/workflow';
