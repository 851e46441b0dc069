import type { z } from 'zod';
import type { stopAnswer } from '../../contracts/attempt';
import { conflict } from '../../platform/errors/app-error';
import type { AttemptRecord } from '../../stores/attempt-store';
import type { RunsContext } from './context';

/** Stops an attempt and answers once its end is recorded. @throws AppError 409 `RUN_ENDED` */
export async function stopRun(
  { attempts, launcher }: Pick<RunsContext, 'attempts' | 'launcher'>,
  record: AttemptRecord,
  actor: string,
): Promise<z.infer<typeof stopAnswer>> {
  const end = record.completion ? undefined : await launcher.stop(record._id, actor);
  if (end) return { attemptId: end.attemptId, status: end.status, stoppedAt: end.endedAt };
  const ended = (await attempts.get(record._id)) ?? record;
  throw conflict(
    'The run has ended already.',
    { attemptId: ended._id, state: ended.state, status: ended.completion?.status },
    'RUN_ENDED',
  );
}
