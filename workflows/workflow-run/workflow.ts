// The engine of the workflow-run service: the board runs the same code, with its own activities and stores.
export { workflowRun } from '../../services/workflow-runs/runs/execution/workflow';
