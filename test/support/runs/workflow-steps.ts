import { eventually } from '../../../platform/testing/eventually';
import type { Caller } from '../caller';
import { persistently } from '../processes/persistently';

export interface StepAttempt {
  attemptId: string;
  taskId: string;
}

/** The attempts that were launched for a step of a workflow run with an input, which has a task of its own. */
export async function attemptsOfStep(call: Caller, runId: string, stepId: string): Promise<StepAttempt[]> {
  const found: StepAttempt[] = [];
  const { tasks } = await call.ok('GET', '/api/tasks?limit=500');
  for (const { id, description = '' } of tasks as { id: string; description?: string }[]) {
    if (description.includes(`Step \`${stepId}\` of the workflow run \`${runId}\``)) {
      const { attempts } = await call.ok('GET', `/api/agents/${id}/attempts`);
      found.push(...attempts.map((attempt: { id: string }) => ({ attemptId: attempt.id, taskId: id })));
    }
  }
  return found;
}

/** Waits until so many were launched. */
export const launchedOfStep = (
  call: Caller,
  { runId, stepId, count = 1 }: { runId: string; stepId: string; count?: number },
): Promise<StepAttempt[]> =>
  eventually(
    async () => {
      const attempts = await attemptsOfStep(call, runId, stepId);
      if (attempts.length !== count) {
        throw new Error(`The step ${stepId} has ${attempts.length} attempts, and not ${count}.`);
      }
      return attempts;
    },
    { withinMs: 90_000 },
  );

/** Reports the end of the agent elsewhere that a step has launched. */
export async function finishStep(
  call: Caller,
  { runId, stepId }: { runId: string; stepId: string },
  body: object = { status: 'success', summary: `${stepId} done` },
): Promise<StepAttempt> {
  const [attempt] = await launchedOfStep(call, { runId, stepId });
  if (!attempt) {
    throw new Error(`The step ${stepId} has no attempt.`);
  }
  const { taskId, attemptId } = attempt;
  await persistently(() => call.ok('POST', `/api/agents/${taskId}/complete`, { attemptId, ...body }));
  return attempt;
}
