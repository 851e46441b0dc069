/** Every workflow: the entry of the bundle that workers run. */
export { agentRun } from './agent-run/workflow';
export { admissionScheduler } from './admission-scheduler/workflow';
export { reconcile } from './reconcile/workflow';
export { retention } from './retention/workflow';
export { scheduledLaunch } from './scheduled-launch/workflow';
export { recovery } from './recovery/workflow';
export { phaseExpansion } from './phase-expansion/workflow';
export { runApproval } from './run-approval/workflow';
export { attachmentCleanup } from './attachment-cleanup/workflow';
export { outputCleanup } from './output-cleanup/workflow';
export { launchPreview } from './launch-preview/workflow';
export { taskTransition } from './task-transition/workflow';
export { worktree } from './worktree/workflow';
export { repositorySetup } from './repository-setup/workflow';
export { workspaceInventory } from './workspace-inventory/workflow';
export { worktreeInspection, worktreeOpen } from './worktree-view/workflow';
export { executionTree } from './execution-tree/workflow';
export { workspaceRewind, workspaceRewindPlan } from './workspace-rewind/workflow';
