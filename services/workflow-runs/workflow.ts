// The workflows of this service: the entry of its bundle.
export { workflowRun, workflowRunDispatch } from './runs/workflow';
export { sessionGeneration } from './sessions/workflow';
