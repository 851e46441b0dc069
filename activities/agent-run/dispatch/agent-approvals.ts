import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalRequest, RunApproval } from '../../../contracts/runs/approval';
import { responseContext } from '../../../domain/approvals/decision-options';
import { riskOf } from '../../../domain/approvals/risk';
import { createSealedBoxKey, type SealedBox, type SealedBoxKey } from '../../../platform/crypto/sealed-box';
import { AppError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { AgentQuestion, AgentResponse } from '../../../providers/agents/question';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { Approvals } from '../../../workflows/run-approval/client';

/** Pauses between tries while Temporal or the stores are away, in milliseconds. */
const pauseMs = { first: 250, most: 5_000 };

export type AgentDecider = (question: AgentQuestion, signal: AbortSignal) => Promise<AgentResponse>;

/**
 * Requests the approvals of one running agent, and waits for the decisions. The key for data in a response lives as long as
 * this process: an agent that outlives it does not get half of a response.
 */
export function agentDecider(
  { approvals, workspaceId }: { approvals: Approvals; workspaceId: string },
  record: AttemptRecord,
): AgentDecider {
  const keys = new Map<string, SealedBoxKey>();
  return async (question, signal) => {
    const key = keys.get(question.requestId) ?? createSealedBoxKey();
    keys.set(question.requestId, key);
    try {
      const asked = await persistently(
        () => approvals.request({ ...requestOf(record, question, key.publicKey), workspaceId }),
        signal,
      );
      const settled = asked.status === 'pending' ? await approvals.settled(asked.id, signal) : asked;
      return await answerOf(approvals, settled, key);
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      return { decision: 'rejected', decidedBy: 'system', note: error.message };
    }
  };
}

const requestOf = (
  record: AttemptRecord,
  question: AgentQuestion,
  responseKey: string,
): Omit<ApprovalRequest, 'workspaceId'> => {
  const { requestId, riskClass, ...rest } = question;
  const workspace = record.taskEnvelope?.workspace;
  return {
    taskId: record.taskId,
    attemptId: record._id,
    provider: record.provider,
    agentId: record.agent,
    providerRequestId: requestId,
    riskClass: riskOf(question.actionClass, riskClass),
    policyReason: 'The agent requires permission for this action.',
    ...(workspace ? { workingDirectory: workspace.path } : {}),
    responseKey,
    ...rest,
  };
};

async function answerOf(approvals: Approvals, approval: RunApproval, key: SealedBoxKey): Promise<AgentResponse> {
  const { id, status, resolution } = approval;
  const sealed = resolution?.responseData === undefined ? undefined : await approvals.takeResponse(id);
  const response = sealed && opened(approval, sealed, key);
  if (resolution?.responseData !== undefined && !response) {
    return { approvalId: id, decision: 'cancelled', decidedBy: 'system', note: unreadable };
  }
  return {
    approvalId: id,
    decision: status === 'pending' ? 'cancelled' : status,
    decidedBy: resolution?.actor ?? 'system',
    ...compact({ note: resolution?.note, response }),
  };
}

const unreadable = 'The response data were for a worker that no longer runs. Request again with a new id.';

/** The data of a response; nothing when it was sealed for another worker. */
function opened(approval: RunApproval, sealed: SealedBox, key: SealedBoxKey): Record<string, unknown> | undefined {
  try {
    return JSON.parse(key.open(sealed, responseContext(approval))) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Repeats what only fails because something is away for now. */
async function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.most)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || (error instanceof AppError && error.status !== 503)) {
        throw error;
      }
    }
    await delay(pause, undefined, { signal });
  }
}
