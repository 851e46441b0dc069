import { WithStartWorkflowOperation } from '@temporalio/client';
import { updateProofMs } from '../../../platform/crypto/message-proof';
import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { cancelExecutionTreeId } from '../../../workflows/cancel-execution-tree/messages';
import { withProof } from '../../../workflows/clients/with-proof';
import { operateMessage } from '../../../workflows/message-proofs';
import { boardQueue } from '../../../workflows/queues';
import { recoveryId } from '../../../workflows/recovery/messages';
import { runApprovalId } from '../../../workflows/run-approval/messages';
import { temporaryAuthorityId } from '../../../workflows/temporary-authority/messages';
import { type AskedFor, operateUpdate, worktreeId } from '../../../workflows/worktree/messages';
import { anApprovalRequest } from '../../support/factories/approval';
import { aRequester } from '../../support/runs/approvals';
import { inMs, readPhase, transitionOf } from '../../support/runs/phases';
import { proofsOf } from '../../support/stack/proofs';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** What workflows do since the API signs what it sends, and what an operator's cancel leaves in the audit log. */
export async function provenScenarios({ service, temporal }: Stage): Promise<Recording[]> {
  const { call, dataDir } = service;
  const aTask = (): Promise<{ id: string }> => call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  const launch = async (agent: string, more: object = {}) => {
    const { id: taskId } = await aTask();
    const key = { 'x-idempotency-key': `recorded-${taskId}` };
    const { attemptId } = await eventually(() => call.start(taskId, { agent, ...more }, key));
    return { taskId, attemptId: attemptId as string };
  };
  const stop = ({ taskId, attemptId }: { taskId: string; attemptId: string }) =>
    call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });

  const stopped = await launch('elsewhere');
  const requester = await aRequester(temporal, { dataDir });
  const decided = await requester.approvals.request(anApprovalRequest(stopped, { providerRequestId: 'decided' }));
  await call.ok('POST', `/api/run-approvals/${decided.id}/decision`, {
    decision: 'approved',
    expectedRevision: 1,
    expectedActionHash: decided.actionHash,
  });
  const withdrawn = await requester.approvals.request(anApprovalRequest(stopped, { providerRequestId: 'withdrawn' }));
  await temporal.workflow.getHandle(runApprovalId(withdrawn.id)).cancel();
  await temporal.workflow.getHandle(runApprovalId(withdrawn.id)).result();
  await requester.close();
  await stop(stopped);

  const cancelled = await launch('elsewhere');
  await temporal.workflow.getHandle(agentRunId(cancelled.attemptId)).cancel();
  await call.ended(cancelled.taskId);

  const failed = await launch('limited');
  await call.ended(failed.taskId);
  await eventually(() =>
    call.ok('POST', `/api/agents/${failed.taskId}/recovery/cancel`, { attemptId: failed.attemptId }),
  );

  const closed = await launch('elsewhere');
  const cancel = { idempotencyKey: 'recorded-proven', reason: 'recorded' };
  await call.ok('POST', `/api/admission/tree/${closed.attemptId}/cancel`, cancel);
  await call.ended(closed.taskId);

  const confined = await launch('confined', { phase: 'verify' });
  const snapshot = await readPhase(call, confined);
  const emergencyOverride = { justification: 'it is recorded', expiresAt: inMs(1_000) };
  const change = transitionOf(snapshot, 'implement', 'proven', { emergencyOverride });
  await call.ok('POST', `/api/agents/${confined.taskId}/phase/transitions`, change);
  await temporal.workflow.getHandle(temporaryAuthorityId(confined.attemptId, 'proven')).result();
  await stop(confined);

  const made = await aTask();
  await call.ok('POST', `/api/tasks/${made.id}/worktree`, {});
  const asked = await aTask();
  await operateOnResumed(asked.id, { request: { kind: 'create' }, actor: 'admin' });
  const removed = await aTask();
  await call.ok('POST', `/api/tasks/${removed.id}/worktree`, {});
  await call.ok('DELETE', `/api/tasks/${removed.id}/worktree?force=true&reason=recorded`);

  const action = { type: 'webhook', url: 'http://127.0.0.1:9/told' };
  const { id: hookId } = await call.ok('POST', '/api/hooks', { name: 'Tell', event: 'task.done', action });
  const reported = await call.createTask({ title: 'Told of' });
  await call.ok('PATCH', `/api/tasks/${reported.id}`, { status: 'done' });
  const transition = await latestWorkflow(temporal, 'taskTransition');
  await call.ok('DELETE', `/api/hooks/${hookId}`);

  return [
    ['agent-run-stopped-with-proof', agentRunId(stopped.attemptId)],
    ['agent-run-cancelled-by-operator', agentRunId(cancelled.attemptId)],
    ['agent-run-phases-with-proof', agentRunId(confined.attemptId)],
    ['run-approval-decided-with-proof', runApprovalId(decided.id)],
    ['run-approval-withdrawn', runApprovalId(withdrawn.id)],
    ['recovery-cancelled-with-proof', recoveryId(failed.attemptId)],
    ['execution-tree-cancel-with-proof', cancelExecutionTreeId(closed.attemptId)],
    ['phase-expansion-with-proof', temporaryAuthorityId(confined.attemptId, 'proven')],
    ['worktree-create-with-proof', worktreeId(made.id)],
    ['worktree-asked-of-resumed', worktreeId(asked.id)],
    ['worktree-cleanup-with-proof', worktreeId(removed.id)],
    ['task-transition-with-proof', transition],
  ];

  /** Asks for an operation of a workflow that was started to finish what was interrupted. */
  async function operateOnResumed(taskId: string, operation: AskedFor): Promise<void> {
    const proofs = await proofsOf({ MONGODB_URL: undefined, BOARD_DATA_DIR: dataDir });
    await temporal.workflow.executeUpdateWithStart(operateUpdate, {
      args: [withProof(proofs, operation, { message: operateMessage(taskId, operation), lifetimeMs: updateProofMs })],
      startWorkflowOperation: new WithStartWorkflowOperation('worktree', {
        workflowId: worktreeId(taskId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [{ taskId, heartbeatTimeoutMs: 2_000, request: null, actor: 'system:reconcile' }],
      }),
    });
  }
}
