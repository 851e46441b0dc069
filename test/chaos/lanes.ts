import { setTimeout as delay } from 'node:timers/promises';
import { persistently } from '../support/persistently';
import type { Service } from '../support/service';

/** How long everything may take to come to its end once nothing is killed any more, in milliseconds. */
const settleWithinMs = 300_000;
const lookEveryMs = 250;

/** What is killed meanwhile, and what has been launched. */
export interface Course {
  taskIds: string[];
  /** Whether nothing is killed any more. */
  over(): boolean;
}

/**
 * Launches one run after another until nothing is killed any more, and waits for each to end for good.
 *
 * @returns how the run stands that did not come to its end, if there is one
 */
export async function keepLaunching(service: Service, name: string, course: Course): Promise<string | undefined> {
  for (let round = 1; !course.over(); round += 1) {
    const task = await persistently(() =>
      service.call.createTask({ title: `${name} ${round}`, git: { repo: 'sample' } }),
    );
    course.taskIds.push(task.id);
    const key = { 'x-idempotency-key': `chaos-${name}-${round}` };
    await persistently(() => service.call.start(task.id, {}, key));
    const stuck = await untilEnded(service, task.id, course);
    if (stuck !== undefined) return stuck;
  }
  return undefined;
}

/** Until no attempt of the task runs, and none is due to follow: as long as it takes while parts are killed. */
async function untilEnded(service: Service, taskId: string, course: Course): Promise<string | undefined> {
  let overSince: number | undefined;
  for (;;) {
    const standing = await standingOf(service, taskId).catch((error: unknown) => String(error));
    if (standing === undefined) return undefined;
    if (course.over()) overSince ??= performance.now();
    if (overSince !== undefined && performance.now() - overSince > settleWithinMs) return `${taskId}: ${standing}`;
    await delay(lookEveryMs);
  }
}

/** What the task still waits for; nothing when it is over. */
async function standingOf({ call }: Service, taskId: string): Promise<string | undefined> {
  const { state, attemptId } = await call.status(taskId);
  if (state !== 'ended') return `${attemptId} is ${state}`;
  const recovery = await call.ok('GET', `/api/agents/${taskId}/recovery`);
  return recovery?.nextAttemptId && recovery.attemptId === attemptId ? `a retry of ${attemptId} is due` : undefined;
}
