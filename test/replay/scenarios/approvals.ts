import type { ApprovalRequest } from '../../../contracts/runs/approval';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { runApprovalId } from '../../../workflows/run-approval/messages';
import { anApprovalRequest } from '../../support/factories/approval';
import { aRequester, aWaitingRun } from '../../support/runs/approvals';
import type { Recording, Stage } from './stage';

/** Every way a request for approval can end, and the run that waited meanwhile. */
export async function approvalScenarios({ service, temporal }: Stage): Promise<Recording[]> {
  const { call } = service;
  const { approvals, close } = await aRequester(temporal, { dataDir: service.dataDir });
  try {
    const run = await aWaitingRun(call);
    const ask = (providerRequestId: string, fields: Partial<ApprovalRequest> = {}) =>
      approvals.request(anApprovalRequest(run, { providerRequestId, ...fields }));
    const expired = await ask('expired', { lifetimeMs: 1_000 });
    const decided = await ask('decided');
    await call.ok('POST', `/api/run-approvals/${decided.id}/decision`, {
      decision: 'approved',
      expectedRevision: 1,
      expectedActionHash: decided.actionHash,
    });
    await approvals.settled(expired.id, AbortSignal.timeout(120_000));
    const cancelled = await ask('cancelled');
    await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
    return [
      ['run-approval-decided', runApprovalId(decided.id)],
      ['run-approval-expired', runApprovalId(expired.id)],
      ['run-approval-cancelled', runApprovalId(cancelled.id)],
      ['agent-run-approvals', agentRunId(run.attemptId)],
    ];
  } finally {
    await close();
  }
}
