import type { z } from 'zod';
import type { stopResponse } from '../../../contracts/runs/attempt';
import { conflict } from '../../../platform/errors/app-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';

/** Stops an attempt and returns once its end is recorded. @throws AppError 409 `RUN_ENDED` */
export async function stopRun(
  { attempts, runLauncher }: Pick<WorkflowContext, 'attempts' | 'runLauncher'>,
  record: AttemptRecord,
  actor: string,
): Promise<z.infer<typeof stopResponse>> {
  const end = record.completion ? undefined : await runLauncher.stop(record._id, actor);
  if (end) {
    return { attemptId: end.attemptId, status: end.status, stoppedAt: end.endedAt };
  }
  const ended = (await attempts.get(record._id)) ?? record;
  throw conflict(
    'The run has already ended.',
    { attemptId: ended._id, state: ended.state, status: ended.completion?.status },
    'RUN_ENDED',
  );
}
