/** Every workflow: the entry of the bundle that workers run. */
export { agentRun } from './agent-run/workflow';
export { admissionScheduler } from './admission-scheduler/workflow';
export { launchPreview } from './launch-preview/workflow';
