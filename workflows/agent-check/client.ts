import { type Client, WorkflowFailedError } from '@temporalio/client';
import type { Refusal } from '../../contracts/refusal';
import type { AgentCheck } from '../../contracts/settings/agent-check';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { agentCheckMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { agentCheckId, type AgentCheckInput, type CheckedAgent } from './messages';

/** Has a host check an agent, or joins the check that runs. */
export type CheckAgent = (checked: CheckedAgent) => Promise<AgentCheck | Refusal>;

/** @throws AppError 503 `CHECK_PENDING` when it takes longer than a caller waits: it continues */
export const createAgentCheck =
  (client: Client, proofs: Pick<MessageProofs, 'sign'>): CheckAgent =>
  (checked) =>
    withinDeadline(client, { pending: () => pending(checked) }, () =>
      client.workflow.execute<(input: AgentCheckInput) => Promise<AgentCheck | Refusal>>('agentCheck', {
        workflowId: agentCheckId(checked),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowExecutionTimeout: '16 minutes',
        staticSummary: `check ${checked.agentType}`,
        args: [withProof(proofs, checked, { message: agentCheckMessage(checked), lifetimeMs: updateProofMs })],
      }),
    ).catch((error: unknown) => {
      throw error instanceof WorkflowFailedError ? unfinished(checked) : error;
    });

const unfinished = ({ agentType, hostId }: CheckedAgent) =>
  new AppError('CHECK_UNFINISHED', {
    status: 503,
    message: `The worker of ${hostId} ended, or did not respond, before the check of ${agentType} was done. Repeat the request.`,
    details: { agent: agentType, hostId, retryAfterMs: 5_000 },
  });

const pending = ({ agentType, hostId }: CheckedAgent) =>
  new AppError('CHECK_PENDING', {
    status: 503,
    message: `The check of ${agentType} on ${hostId} is still running. Repeat the request to wait for the same one.`,
    details: { agent: agentType, hostId, retryAfterMs: 5_000 },
  });
