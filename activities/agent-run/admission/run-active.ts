import type { Refusal } from '../../../contracts/refusal';
import { activeAttemptStates } from '../../../contracts/runs/attempt';
import { refusal } from '../../../domain/refusal';
import type { ActiveRunStore } from '../../../stores/runs/admission/active-run-store';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import type { RecoveryStore } from '../../../stores/runs/recovery-store';

interface RunActiveDependencies {
  activeRuns: Pick<ActiveRunStore, 'take'>;
  attempts: Pick<AttemptStore, 'get'>;
  recoveries: Pick<RecoveryStore, 'latest'>;
}

/** How often the task is taken again when its holder is over by the time it is read. */
const tries = 3;

/** Takes the task for the attempt, or returns `RUN_ACTIVE` with the attempt that has it and the state of that one. */
export async function claimTask(
  deps: RunActiveDependencies,
  { taskId, _id: attemptId }: Pick<AttemptRecord, 'taskId' | '_id'>,
): Promise<Refusal | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const holder = await deps.activeRuns.take(taskId, attemptId);
    if (holder === attemptId) {
      return undefined;
    }
    const running = await deps.attempts.get(holder);
    if (!running) {
      return awaitedRetry(deps, taskId, holder);
    }
    if (activeAttemptStates.includes(running.state) || attempt === tries) {
      return taken(taskId, running);
    }
  }
}

const taken = (taskId: string, { _id: attemptId, state, agent }: AttemptRecord): Refusal =>
  refusal('RUN_ACTIVE', `The task has a running attempt, ${attemptId}; stop it first.`, {
    code: 'RUN_ACTIVE',
    taskId,
    attemptId,
    state,
    agent,
  });

/** The task is reserved for an attempt that is yet to be launched: the one that follows a failed attempt. */
async function awaitedRetry(deps: RunActiveDependencies, taskId: string, holder: string): Promise<Refusal> {
  const recovery = await deps.recoveries.latest(taskId);
  const details = { code: 'RUN_ACTIVE', taskId, nextAttemptId: holder };
  if (recovery?.nextAttemptId !== holder) {
    return refusal('RUN_ACTIVE', 'The task is reserved for an attempt that is being launched.', details);
  }
  const { attemptId, state, action } = recovery;
  return refusal(
    'RUN_ACTIVE',
    `A ${action} of ${attemptId} is ${state}; cancel it first with POST /api/agents/${taskId}/recovery/cancel.`,
    { ...details, attemptId, state, recovery: { attemptId, action, state } },
  );
}
