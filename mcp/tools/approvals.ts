import { z } from 'zod';
import { unwrap } from '../../clients/typescript/src';
import { taskId } from '../../contracts/common';
import { approvalDecision, approvalId } from '../../contracts/runs/approval';
import { annotations, type BoardTool, defineTool } from '../tool';

export const approvalTools: BoardTool[] = [
  defineTool({
    name: 'list_approvals',
    title: 'List approvals that wait',
    description: 'Lists what runs ask a person to permit, with the exact action, its hash and its revision.',
    annotations: annotations.reads,
    input: z.strictObject({ taskId: taskId.optional(), limit: z.number().int().min(1).max(50).default(20) }),
    call: async ({ board, signal }, filter) => {
      const query = { ...filter, status: 'pending' as const };
      const waiting = await unwrap(board.GET('/api/run-approvals', { params: { query }, signal }));
      return {
        approvals: waiting.map((each) => ({
          ...{ id: each.id, taskId: each.taskId, agent: each.agentId, risk: each.riskClass, action: each.action },
          ...{ actionHash: each.actionHash, revision: each.revision, details: each.details },
          ...{ reason: each.policyReason, expiresAt: each.expiresAt },
        })),
      };
    },
  }),
  defineTool({
    name: 'decide_approval',
    title: 'Decide an approval',
    description:
      'Approves or rejects exactly the action that list_approvals showed. Decide only what a person asked you to.',
    annotations: annotations.destroys,
    input: approvalDecision.omit({ responseData: true }).extend({ approvalId }),
    call: async ({ board, signal }, { approvalId: id, ...body }) => {
      const path = { approvalId: id };
      const decided = await unwrap(
        board.POST('/api/run-approvals/{approvalId}/decision', { params: { path }, body, signal }),
      );
      return { id, status: decided.status, action: decided.action };
    },
  }),
];
