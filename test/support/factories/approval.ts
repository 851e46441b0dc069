import type { ApprovalRequest } from '../../../contracts/runs/approval';

/** What an agent asks of an administrator. */
export const anApprovalRequest = (
  run: { taskId: string; attemptId: string },
  fields: Partial<ApprovalRequest> = {},
): ApprovalRequest => ({
  workspaceId: 'local',
  ...run,
  provider: 'remote-callback',
  agentId: 'elsewhere',
  actionClass: 'shell',
  action: 'rm -rf build',
  providerRequestId: 'request-1',
  riskClass: 'high',
  policyReason: 'The agent requires permission for this action.',
  ...fields,
});
