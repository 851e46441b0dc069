/** Every workflow: the entry of the bundle that workers run. */
export { admissionScheduler } from './admission-scheduler/workflow';
export { agentRun } from './agent-run/workflow';
export { attachmentCleanup } from './attachment-cleanup/workflow';
export { executionTree } from './execution-tree/workflow';
export { launchPreview } from './launch-preview/workflow';
export { outputCleanup } from './output-cleanup/workflow';
export { phaseExpansion } from './phase-expansion/workflow';
export { reconcile } from './reconcile/workflow';
export { recovery } from './recovery/workflow';
export { repositorySetup } from './repository-setup/workflow';
export { retention } from './retention/workflow';
export { runApproval } from './run-approval/workflow';
export { scheduledLaunch } from './scheduled-launch/workflow';
export { taskTransition } from './task-transition/workflow';
export { workspaceInventory } from './workspace-inventory/workflow';
export { workspaceRewind, workspaceRewindPlan } from './workspace-rewind/workflow';
export { worktree } from './worktree/workflow';
export { worktreeInspection, worktreeOpen } from './worktree-view/workflow';
