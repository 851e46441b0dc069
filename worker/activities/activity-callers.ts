import type { Info } from '@temporalio/activity';
import type { DeliveryActivities } from '../../activities/agent-run/commands/activities';
import type { ToolCallActivities } from '../../activities/tool-call/activities';
import { provenWorkflows } from '../../platform/temporal/activity-proof';
import type { ActivityCaller } from '../../platform/temporal/workers/activity-fence';
import { runWorkflowId } from '../../services/workflow-runs/runs/execution/messages';
import { adapterDeliveryId } from '../../workflows/adapter-delivery/messages';
import { agentRunId } from '../../workflows/agent-run/messages';
import { cancelExecutionTreeId } from '../../workflows/cancel-execution-tree/messages';
import { continueRunId } from '../../workflows/continue-run/messages';
import { decisionReviewId } from '../../workflows/decision-review/messages';
import { goalWorkflowId } from '../../workflows/goal/messages';
import { issueSyncId } from '../../workflows/issue-sync/messages';
import { pullRequestId } from '../../workflows/pull-request/messages';
import { recordedTypes } from '../../workflows/recorded-types';
import { recoveryId } from '../../workflows/recovery/messages';
import { reviewAcceptanceId } from '../../workflows/review-acceptance/messages';
import { runApprovalId } from '../../workflows/run-approval/messages';
import { temporaryAuthorityId } from '../../workflows/temporary-authority/messages';
import { toolCallWorkflowId } from '../../workflows/tool-call/messages';
import { trackerIntrospectionId } from '../../workflows/tracker-introspection/messages';
import { trackerLinkWorkflowId } from '../../workflows/tracker-link/messages';
import { workflowToolCallId } from '../../workflows/workflow-tool-call/messages';
import { rewindPlanId, workspaceRewindId } from '../../workflows/workspace-rewind/messages';
import { worktreeId } from '../../workflows/worktree/messages';
import type { createBoardActivities } from './board-activities';
import type { createHostActivities } from './host-activities';

type ActivityName =
  | keyof ReturnType<typeof createBoardActivities>
  | keyof ReturnType<typeof createHostActivities>
  | keyof DeliveryActivities
  | keyof ToolCallActivities;

const id = (value: string | undefined): string => value ?? '';

const run: ActivityCaller = { workflows: ['agentRun'], workflowId: ({ attemptId }) => agentRunId(id(attemptId)) };
const worktree: ActivityCaller = { workflows: ['worktree'], workflowId: ({ taskId }) => worktreeId(id(taskId)) };
const approval: ActivityCaller = {
  workflows: ['runApproval'],
  workflowId: ({ approvalId }) => runApprovalId(id(approvalId)),
};
const recovery: ActivityCaller = { workflows: ['recovery'], workflowId: ({ attemptId }) => recoveryId(id(attemptId)) };
const tree: ActivityCaller = {
  workflows: ['cancelExecutionTree', recordedTypes.cancelExecutionTree],
  workflowId: ({ rootObjectiveId }) => cancelExecutionTreeId(id(rootObjectiveId)),
};
const expansion: ActivityCaller = {
  workflows: ['temporaryAuthority', recordedTypes.temporaryAuthority],
  workflowId: ({ attemptId, operationId }) => temporaryAuthorityId(id(attemptId), id(operationId)),
};
const acceptance: ActivityCaller = {
  workflows: ['reviewAcceptance'],
  workflowId: ({ attemptId }) => reviewAcceptanceId(id(attemptId)),
};
const rewind: ActivityCaller = {
  workflows: ['workspaceRewind'],
  workflowId: ({ rewindId }) => workspaceRewindId(id(rewindId)),
};
const pull: ActivityCaller = { workflows: ['pullRequest'], workflowId: ({ taskId }) => pullRequestId(id(taskId)) };
const toolCall: ActivityCaller = {
  workflows: ['toolCall'],
  workflowId: ({ callId }) => toolCallWorkflowId(id(callId)),
};
const workflowToolCall: ActivityCaller = {
  workflows: ['workflowToolCall'],
  workflowId: ({ callId }) => workflowToolCallId(id(callId)),
};
const tracked: ActivityCaller = {
  workflows: ['trackerLink'],
  workflowId: ({ linkId }) => trackerLinkWorkflowId(id(linkId)),
};
const transition: ActivityCaller = { workflows: ['deliverHooks', recordedTypes.deliverHooks] };
const issues: ActivityCaller = { workflows: ['issueSync'], workflowId: ({ repo }) => issueSyncId(id(repo)) };
const continuation: ActivityCaller = {
  workflows: ['continueRun'],
  workflowId: ({ attemptId }) => continueRunId(id(attemptId)),
};
const goal: ActivityCaller = { workflows: ['goal'], workflowId: ({ goalId }) => goalWorkflowId(id(goalId)) };
const review: ActivityCaller = {
  workflows: ['decisionReview'],
  workflowId: ({ reviewId }) => decisionReviewId(id(reviewId)),
};
const delivery: ActivityCaller = {
  workflows: ['adapterDelivery'],
  workflowId: ({ deliveryId }) => adapterDeliveryId(id(deliveryId)),
};
const adapter: ActivityCaller = { workflows: ['adapterRequest'] };
const deliverable: ActivityCaller = { workflows: ['scheduledDeliverable'] };
const workflowRun: ActivityCaller = {
  workflows: ['workflowRun'],
  workflowId: ({ runId }) => runWorkflowId(id(runId)),
};
const purge: ActivityCaller = { workflows: ['retention'] };

/** The workflows that schedule each activity; every activity has some. */
export const activityCallers: Readonly<Record<ActivityName, ActivityCaller>> = {
  signActivity: { workflows: provenWorkflows },
  admit: run,
  confirmDispatch: run,
  prepare: run,
  dispatch: run,
  reattach: run,
  reclaim: run,
  observeEnd: run,
  announceStart: run,
  finish: run,
  endOf: run,
  abandon: run,
  acceptCommand: run,
  settleCommand: run,
  supervisorQueue: run,
  phaseNotice: run,
  attributeStop: run,
  deliverCommand: run,
  endAgent: run,
  requireClaim: run,
  writeClaim: run,
  announceApproval: approval,
  decideApproval: approval,
  closeApproval: approval,
  beginRecovery: recovery,
  cancelRecovery: recovery,
  closeTree: tree,
  drainTree: tree,
  settleTree: tree,
  beginExpansion: expansion,
  endExpansion: expansion,
  beginAcceptance: acceptance,
  finishAcceptance: acceptance,
  requestAcceptedPullRequest: acceptance,
  returnReview: acceptance,
  planRewind: { workflows: ['workspaceRewindPlan'], workflowId: ({ rewindId }) => rewindPlanId(id(rewindId)) },
  beginRewind: rewind,
  applyRewind: rewind,
  tellAgent: rewind,
  planWorktree: worktree,
  verifyOperation: worktree,
  beginWorktree: worktree,
  createWorktree: worktree,
  makeWorktree: worktree,
  rebaseWorktree: worktree,
  commitWorktree: worktree,
  integrateBranch: worktree,
  pushMerge: worktree,
  finishMerge: worktree,
  resolveConflict: worktree,
  continueStopped: worktree,
  abortStopped: worktree,
  removeWorktree: worktree,
  giveUp: worktree,
  recordInterruption: worktree,
  inspect: { workflows: ['worktree', 'worktreeInspection'] },
  readDiff: { workflows: ['worktreeDiff'] },
  openEditor: { workflows: ['worktreeOpen'] },
  preview: { workflows: ['launchPreview'] },
  beginPullRequest: pull,
  pushPullRequest: pull,
  openPullRequest: pull,
  refreshPullRequest: pull,
  notePullRequest: pull,
  settlePullRequest: pull,
  toolCallQueue: toolCall,
  runToolCall: toolCall,
  settleToolCall: toolCall,
  runWorkflowToolCall: workflowToolCall,
  settleWorkflowToolCall: workflowToolCall,
  introspectTracker: {
    workflows: ['trackerIntrospection'],
    workflowId: ({ provider, project }) => trackerIntrospectionId(id(provider), id(project)),
  },
  beginTrackerLink: tracked,
  createWorkItem: tracked,
  importWorkItem: tracked,
  syncWorkItemComments: tracked,
  noteWorkItem: tracked,
  settleTrackerLink: tracked,
  checkForge: { workflows: ['forgeCheck'] },
  checkAgent: { workflows: ['agentCheck'] },
  discoverTools: { workflows: ['toolDiscovery'] },
  setUpRepository: { workflows: ['repositorySetup'] },
  inspectRepository: { workflows: ['repositoryInspection'] },
  listBranches: { workflows: ['repositoryBranches'] },
  takeInventory: { workflows: ['workspaceInventory'] },
  hooksFor: transition,
  runHook: transition,
  giveUpHook: transition,
  reconcileRuns: { workflows: ['reconcile'] },
  dispatchQueued: { workflows: ['admissionScheduler'] },
  cleanUpOutput: { workflows: ['outputCleanup'] },
  scanSkills: { workflows: ['skillScan'] },
  cleanUpAttachments: { workflows: ['attachmentCleanup'] },
  purgeTasks: purge,
  purgeRunEvents: purge,
  purgeTraces: purge,
  purgeWorkflowRuns: purge,
  liveHosts: purge,
  purgeSpools: purge,
  beginIssueSync: issues,
  pullIssues: issues,
  pushTasks: issues,
  requestRefreshes: issues,
  endIssueSync: issues,
  failIssueSync: issues,
  verifyIssueSync: issues,
  settleGoal: goal,
  dispatchContinuation: goal,
  dispatchRunContinuation: continuation,
  nextReviewStep: review,
  answerQuestion: review,
  failParticipant: review,
  draftSynthesis: review,
  failDraft: review,
  attemptAdapterDelivery: delivery,
  settleAdapterDelivery: delivery,
  probeAdapter: adapter,
  pollAdapter: adapter,
  beginDeliverableRun: deliverable,
  prepareDeliverableTask: deliverable,
  launchDeliverableAgent: deliverable,
  observeDeliverableAgent: deliverable,
  endDeliverableRun: deliverable,
  saveRun: workflowRun,
  verifyMessage: workflowRun,
  prepareContinuation: workflowRun,
  loadContinuation: workflowRun,
  deleteContinuation: workflowRun,
  runEnded: { workflows: ['workflowRun'] },
  startLaunch: workflowRun,
  writeOutput: workflowRun,
  observeLaunch: workflowRun,
  stopLaunch: workflowRun,
  openToolCatalog: workflowRun,
  callTool: workflowRun,
  withdrawToolCall: workflowRun,
  readAdapterDefinitions: adapter,
  startScheduledRun: { workflows: ['scheduledWorkflow'] },
  launchScheduled: { workflows: ['scheduledLaunch'] },
};

/**
 * Activities that are not stopped after their worker slept: those that supervise an agent ask the stores by themselves, and
 * leave or end it then; those that are never repeated would be lost.
 */
export const asksAfterSleep = ({ activityType, retryPolicy }: Info): boolean =>
  activityType === ('reattach' satisfies ActivityName) || retryPolicy?.maximumAttempts === 1;
