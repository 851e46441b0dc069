import { AppError, assertFound } from '../../platform/errors/app-error';
import type { AttemptRecord, AttemptStore } from '../../stores/attempt-store';

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
  if (record.taskId !== taskId)
    throw new AppError('NOT_FOUND', 404, `The attempt ${attemptId} belongs to another task.`, { attemptId });
  return record;
}
