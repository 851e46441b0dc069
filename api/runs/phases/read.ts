import { notFound } from '../../../platform/errors/app-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { PhaseRecord } from '../../../stores/runs/phase-store';
import { attemptOfTask } from '../attempts/attempt';
import type { PhasesContext } from './context';

/** The present authority of an attempt: an emergency whose time is over has ended, whether that was recorded or not. */
export async function currentPhase({ phases, now }: PhasesContext, attemptId: string): Promise<PhaseRecord> {
  const record = await phases.endEmergency(attemptId, { now: now().toISOString() });
  if (!record) {
    throw notFound('phase of attempt', attemptId);
  }
  return record;
}

/** The named attempt of the task, or its latest. @throws AppError 404 */
export async function chosenAttempt(
  { attempts }: PhasesContext,
  taskId: string,
  attemptId: string | undefined,
): Promise<AttemptRecord> {
  if (attemptId !== undefined) {
    return attemptOfTask({ attempts }, taskId, attemptId);
  }
  const latest = await attempts.latest(taskId);
  if (!latest) {
    throw notFound('attempt of task', taskId);
  }
  return latest;
}
