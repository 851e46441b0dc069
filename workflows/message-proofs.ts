import type { PreviewInput } from '../activities/agent-run/prepare/activities';
import type { PlannedLocation } from '../activities/agent-run/prepare/planned-location';
import type { Beginning } from '../activities/worktree/begin/beginning';
import type { ConflictRead } from '../contracts/runs/conflict';
import type { DiffRead } from '../contracts/runs/diff';
import type { AcceptedReview } from '../contracts/tasks/review';
import type { ProvenMessage } from '../platform/crypto/message-proof';
import type { MessageProof } from '../platform/crypto/message-proof-shape';
import type { CheckedAgent } from './agent-check/messages';
import { agentRunId, type AgentRunInput, type StopInput } from './agent-run/messages';
import { cancelExecutionTreeId, type TreeCancelInput } from './cancel-execution-tree/messages';
import { deliverHooksId, type DeliverHooksInput } from './deliver-hooks/messages';
import { issueSyncId, type SyncNowInput } from './issue-sync/messages';
import { type CancelRecoveryInput, recoveryId } from './recovery/messages';
import type { ConfiguredRepository } from './repository-setup/messages';
import type { BranchPageRequest, CandidateRepository } from './repository-view/messages';
import { reviewAcceptanceId } from './review-acceptance/messages';
import { type DecideInput, runApprovalId } from './run-approval/messages';
import { type DeliverableRunStart, deliverableRunWorkflowId } from './scheduled-deliverable/messages';
import { temporaryAuthorityId, type TemporaryAuthorityInput } from './temporary-authority/messages';
import type { DiscoveredServer } from './tool-discovery/messages';
import {
  type RewindCommitInput,
  rewindPlanId,
  type RewindPlanInput,
  workspaceRewindId,
} from './workspace-rewind/messages';
import { type AskedFor, worktreeId } from './worktree/messages';

/** A message with the proof of its sender: a message that reaches Temporal proves nothing by itself. */
export interface Signed {
  proof?: MessageProof | undefined;
}

/** The signer of messages that no person has requested. */
const byService = 'system:service';

/**
 * A message as its sender signs it and its receiver verifies it: what may be done with it, and the workflow or the record it
 * is about.
 */
function provenMessage(
  purpose: string,
  message: object,
  { subject, actor }: { subject: string; actor: string },
): ProvenMessage {
  const { proof: _proof, ...body } = message as Signed & object;
  return { purpose, subject, actor, body };
}

/** What a preview compiles names the program that a probe starts, and the repository that git reads. */
export const previewMessage = (input: PreviewInput & Signed): ProvenMessage =>
  provenMessage('launch-preview', input, { subject: input.hostId ?? 'board', actor: byService });

/** Names the repository that git reads. */
export const inventoryMessage = (location: PlannedLocation & Signed): ProvenMessage =>
  provenMessage('workspace-inventory', location, { subject: location.taskId, actor: byService });

/** A request to inspect a worktree. */
export const inspectMessage = (input: { taskId: string } & Signed): ProvenMessage =>
  provenMessage('inspect', input, { subject: input.taskId, actor: byService });

/** Names commits of the stores, which are read whichever message leads to them. */
export const readDiffMessage = (input: (DiffRead | ConflictRead) & Signed): ProvenMessage =>
  provenMessage('read-diff', input, { subject: input.taskId, actor: byService });

/** Starts the program of an agent on a host. */
export const agentCheckMessage = (checked: CheckedAgent & Signed): ProvenMessage =>
  provenMessage('check-agent', checked, { subject: checked.hostId, actor: byService });

/** Starts the program of a tool server on a host, or sends it a credential. */
export const toolDiscoveryMessage = (discovered: DiscoveredServer & Signed): ProvenMessage =>
  provenMessage('tool-discovery', discovered, { subject: discovered.serverId, actor: byService });

/** Names the repository whose settings are recorded. */
export const repositoryMessage = (location: ConfiguredRepository & Signed): ProvenMessage =>
  provenMessage('repository-setup', location, { subject: location.hostId, actor: byService });

/** Names a path for git to inspect. */
export const repositoryInspectionMessage = (candidate: CandidateRepository & Signed): ProvenMessage =>
  provenMessage('repository-inspection', candidate, { subject: candidate.hostId, actor: byService });

/** Names the repository whose branches are listed. */
export const repositoryBranchesMessage = (request: BranchPageRequest & Signed): ProvenMessage =>
  provenMessage('repository-branches', request, { subject: request.hostId, actor: byService });

/** Starts the configured editor on a host. */
export const openEditorMessage = (input: { taskId: string } & Signed): ProvenMessage =>
  provenMessage('open-editor', input, { subject: input.taskId, actor: byService });

/** A decision on a request for approval. */
export const decideMessage = (approvalId: string, decision: DecideInput): ProvenMessage =>
  provenMessage('decide', decision, { subject: runApprovalId(approvalId), actor: decision.actor });

/** The acceptance of the result of a run. */
export const reviewAcceptanceMessage = (accepted: AcceptedReview): ProvenMessage =>
  provenMessage('accept-review', accepted, {
    subject: reviewAcceptanceId(accepted.attemptId),
    actor: accepted.actor,
  });

/** A launch, and the actor who launches it. */
export const launchMessage = (input: AgentRunInput): ProvenMessage =>
  provenMessage('launch', input, { subject: agentRunId(input.attemptId), actor: input.actor });

export const stopMessage = (input: StopInput): ProvenMessage =>
  provenMessage('stop', input, { subject: agentRunId(input.attemptId), actor: input.actor });

/** Who a run was stopped by, as the worker signs it that has verified the request. */
export const stoppedByMessage = (attemptId: string, actor: string): ProvenMessage =>
  provenMessage('stopped-by', { attemptId, actor }, { subject: agentRunId(attemptId), actor });

export const cancelRecoveryMessage = (input: CancelRecoveryInput): ProvenMessage =>
  provenMessage('cancel-recovery', input, { subject: recoveryId(input.attemptId), actor: input.actor });

/** An operation on the worktree of a task, whether it is sent to a workflow or starts one. */
export const operateMessage = (taskId: string, { request, actor, operationId }: AskedFor): ProvenMessage =>
  provenMessage('operate-worktree', { request, actor, operationId }, { subject: worktreeId(taskId), actor });

/** What an operation is to do and where, once under its id, as the worker signs it that has planned it. */
export const worktreePlanMessage = ({ taskId, actor, request, target, operationId }: Beginning): ProvenMessage =>
  provenMessage(
    'worktree-plan',
    { taskId, actor, request, target, operationId },
    { subject: worktreeId(taskId), actor },
  );

export const treeCancelMessage = (input: TreeCancelInput): ProvenMessage =>
  provenMessage('cancel-tree', input, { subject: cancelExecutionTreeId(input.rootObjectiveId), actor: input.actor });

/** More authority for a run in an emergency. */
export const expansionMessage = (input: TemporaryAuthorityInput): ProvenMessage =>
  provenMessage('expand-phase', input, {
    subject: temporaryAuthorityId(input.attemptId, input.operationId),
    actor: input.change.entry.actor,
  });

export const rewindPlanMessage = (input: RewindPlanInput): ProvenMessage =>
  provenMessage('plan-rewind', input, { subject: rewindPlanId(input.rewindId), actor: input.actor });

/** A rewind that was approved; by whom is in the record of its approval. */
export const rewindMessage = ({ rewindId, attemptId }: Omit<RewindCommitInput, 'hostId'>): ProvenMessage =>
  provenMessage('rewind', { rewindId, attemptId }, { subject: workspaceRewindId(rewindId), actor: byService });

/** The input of hooks, which receivers trust as the board's. */
export const transitionMessage = ({ id, context }: Pick<DeliverHooksInput, 'id' | 'context'>): ProvenMessage =>
  provenMessage('task-transition', { id, context }, { subject: deliverHooksId(id), actor: byService });

/** A request to synchronise the issues of a repository now. */
export const issueSyncMessage = (input: SyncNowInput): ProvenMessage =>
  provenMessage('sync-issues', input, { subject: issueSyncId(input.repo), actor: input.actor });

/** A run of a scheduled deliverable that the API starts: in whose name, and why. */
export const deliverableRunMessage = (deliverableId: string, { runId, begin }: DeliverableRunStart): ProvenMessage =>
  provenMessage(
    'start-deliverable-run',
    { deliverableId, runId, begin },
    { subject: deliverableRunWorkflowId(deliverableId, runId), actor: begin.startedBy },
  );
