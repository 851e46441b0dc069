/** Every workflow: the entry of the bundle that workers run. */
export { adapterDelivery } from './adapter-delivery/workflow';
export { adapterRequest } from './adapter-request/workflow';
export { admissionScheduler } from './admission-scheduler/workflow';
export { agentCheck } from './agent-check/workflow';
export { agentRun } from './agent-run/workflow';
export { attachmentCleanup } from './attachment-cleanup/workflow';
export { cancelExecutionTree } from './cancel-execution-tree/workflow';
export { continueRun } from './continue-run/workflow';
export { decisionReview } from './decision-review/workflow';
export { deliverHooks } from './deliver-hooks/workflow';
export { forgeCheck } from './forge-check/workflow';
export { goal } from './goal/workflow';
export { issueSync } from './issue-sync/workflow';
export { launchPreview } from './launch-preview/workflow';
export { outputCleanup } from './output-cleanup/workflow';
export { pullRequest } from './pull-request/workflow';
export { reconcile } from './reconcile/workflow';
export { recovery } from './recovery/workflow';
export { repositorySetup } from './repository-setup/workflow';
export { retention } from './retention/workflow';
export { reviewAcceptance } from './review-acceptance/workflow';
export { runApproval } from './run-approval/workflow';
export { scheduledDeliverable } from './scheduled-deliverable/workflow';
export { scheduledLaunch } from './scheduled-launch/workflow';
export { skillScan } from './skill-scan/workflow';
export { temporaryAuthority } from './temporary-authority/workflow';
export { toolCall } from './tool-call/workflow';
export { toolDiscovery } from './tool-discovery/workflow';
export { workspaceInventory } from './workspace-inventory/workflow';
export { workspaceRewind, workspaceRewindPlan } from './workspace-rewind/workflow';
export { worktree } from './worktree/workflow';
export { worktreeDiff, worktreeInspection, worktreeOpen } from './worktree-view/workflow';

// Under the names of `recordedTypes`, which recorded histories have and clients start.
export { cancelExecutionTree as executionTree } from './cancel-execution-tree/workflow';
export { deliverHooks as taskTransition } from './deliver-hooks/workflow';
export { temporaryAuthority as phaseExpansion } from './temporary-authority/workflow';
