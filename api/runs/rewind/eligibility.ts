import type { WorkspaceCheckpoint } from '../../../contracts/runs/checkpoint';
import { capabilityEvidence, commandCapability } from '../../../domain/commands';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RewindContext } from './context';

/**
 * Whether this run can be rewound there: it is running, its agent accepts messages, both checkpoints name a turn of the same
 * session and the target's is an earlier one, and no checkpoint was made since the descendant.
 *
 * @throws AppError 404 for a checkpoint of another attempt; 409 `REWIND_UNSUPPORTED` or `REWIND_DIVERGED`
 */
export async function assertEligible(
  { checkpoints }: Pick<RewindContext, 'checkpoints'>,
  record: AttemptRecord,
  { targetCheckpointId, descendantCheckpointId }: { targetCheckpointId: string; descendantCheckpointId: string },
): Promise<string> {
  const target = await checkpointOf(checkpoints, record, targetCheckpointId);
  const descendant = await checkpointOf(checkpoints, record, descendantCheckpointId);
  const { hostId } = record;
  const reason = obstacle(record, target, descendant);
  if (reason !== undefined || hostId === null) {
    throw conflict(
      'Only a running conversation with recorded turns can be rewound.',
      { attemptId: record._id, reason: reason ?? 'no-worktree', state: record.state },
      'REWIND_UNSUPPORTED',
    );
  }
  const latest = await checkpoints.latest(record._id);
  if (latest?.id !== descendant.id) {
    throw conflict(
      'The worktree has changed since that checkpoint. Plan from the latest one.',
      { descendantCheckpointId: descendant.id, latestCheckpointId: latest?.id ?? null },
      'REWIND_DIVERGED',
    );
  }
  return hostId;
}

async function checkpointOf(
  checkpoints: RewindContext['checkpoints'],
  record: AttemptRecord,
  id: string,
): Promise<WorkspaceCheckpoint> {
  const stored = await checkpoints.get(id);
  const checkpoint = stored?.attemptId === record._id ? stored : undefined;
  assertFound(checkpoint, 'checkpoint', id);
  return checkpoint;
}

function obstacle(
  record: AttemptRecord,
  target: WorkspaceCheckpoint,
  descendant: WorkspaceCheckpoint,
): string | undefined {
  if (record.state !== 'running' || record.completion) {
    return 'not-running';
  }
  if (!capabilityEvidence(record.providerRuntimeManifest, 'steer', commandCapability.steer).usable) {
    return 'no-thread-control';
  }
  if (target.number >= descendant.number) {
    return 'not-earlier';
  }
  if (!target.turn || !descendant.turn) {
    return 'no-turn-cursor';
  }
  if (target.turn.sessionId !== descendant.turn.sessionId) {
    return 'another-session';
  }
  return target.turn.turnId === descendant.turn.turnId ? 'same-turn' : undefined;
}
