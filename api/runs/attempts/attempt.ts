import { contractMismatch, type StatedDigests } from '../../../domain/integrity';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';

/**
 * The named attempt, if it is one of the task. Never falls back to the current one (specification 2, Launch rule 6).
 *
 * @throws AppError 404 when there is no such attempt, or it belongs to another task
 */
export async function attemptOfTask(
  { attempts }: { attempts: Pick<AttemptStore, 'get'> },
  taskId: string,
  attemptId: string,
): Promise<AttemptRecord> {
  const record = await attempts.get(attemptId);
  assertFound(record, 'attempt', attemptId);
  if (record.taskId !== taskId) {
    throw new AppError('NOT_FOUND', {
      status: 404,
      message: `The attempt ${attemptId} belongs to another task.`,
      details: { attemptId },
    });
  }
  return record;
}

/**
 * The named attempt with its provider and launch digests re-checked: what every command to a run begins with
 * (specification 2, Launch rule 6).
 *
 * @throws AppError 404 as `attemptOfTask`; 409 `MANIFEST_MISMATCH` when the contract is not the one it was launched with
 */
export async function verifiedAttempt(
  context: { attempts: Pick<AttemptStore, 'get'> },
  {
    taskId,
    attemptId,
    stated = {},
  }: {
    taskId: string;
    attemptId: string;
    /** Digests the caller gave, compared as well. */
    stated?: StatedDigests;
  },
): Promise<AttemptRecord> {
  const record = await attemptOfTask(context, taskId, attemptId);
  const mismatch = contractMismatch(record, stated);
  if (mismatch) {
    throw conflict(
      `The ${mismatch.document} differs from the one this run was launched with.`,
      { attemptId, ...mismatch },
      'MANIFEST_MISMATCH',
    );
  }
  return record;
}
