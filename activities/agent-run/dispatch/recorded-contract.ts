import { ApplicationFailure } from '@temporalio/common';
import type { TaskEnvelopeTransport } from '../../../contracts/runs/launch/contract';
import { renderRecorded } from '../../../domain/contract';
import type { AgentLocation } from '../../../providers/agents/user/agent-access';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { goesOnWith } from '../prepare/launch-snapshot';

/** Where an agent works, as it was recorded before it did. */
export function agentLocationOf({ taskEnvelope, baseline }: AttemptRecord): AgentLocation | undefined {
  const worktreePath = taskEnvelope?.workspace?.path;
  return worktreePath === undefined || !baseline ? undefined : { worktreePath, gitDir: baseline.gitDir };
}

/** The document that was recorded when the launch was prepared. */
export function transportOf(record: AttemptRecord): TaskEnvelopeTransport {
  const { _id: attemptId, taskId, taskEnvelope, transport } = record;
  const rendered = renderRecorded(
    { attemptId, taskId, envelope: required(taskEnvelope, attemptId), ...goesOnWith(record) },
    required(transport, attemptId),
  );
  if (rendered) {
    return rendered;
  }
  throw ApplicationFailure.nonRetryable(`The contract of ${attemptId} was changed.`, 'CONTRACT_CHANGED');
}

/** @throws ApplicationFailure `CONTRACT_MISSING` */
export function required<T>(value: T | undefined, attemptId: string): T {
  if (value === undefined) {
    throw ApplicationFailure.nonRetryable(`${attemptId} has no contract.`, 'CONTRACT_MISSING');
  }
  return value;
}
