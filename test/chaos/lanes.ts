import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../support/stack/service';
import type { Ledger } from './ledger';
import { seededRandom } from './random';
import { pickScenario } from './scenarios';

/** How long everything may take to come to its end once nothing is struck any more, in milliseconds. */
const settleWithinMs = 300_000;
const lookEveryMs = 250;

/** What has been played meanwhile. */
export interface Course {
  service: Service;
  ledger: Ledger;
  taskIds: string[];
  /** How often each scenario was played. */
  played: Record<string, number>;
  seed: number;
  /** Whether nothing is struck any more. */
  over(): boolean;
}

/**
 * Plays one scenario after another until nothing is struck any more, and waits for each to end for good.
 *
 * @returns how the run stands that did not come to its end, if there is one
 */
export async function keepPlaying(course: Course, lane: number): Promise<string | undefined> {
  const { service, ledger, taskIds, played } = course;
  const random = seededRandom(course.seed + lane);
  for (let round = 1; !course.over(); round += 1) {
    const { kind, play } = pickScenario(random(), lane === 0);
    played[kind] = (played[kind] ?? 0) + 1;
    const tasks = await play({ service, ledger, name: `${kind} ${lane}.${round}`, random });
    taskIds.push(...tasks);
    for (const taskId of tasks) {
      const stuck = await untilEnded(service, taskId, course);
      if (stuck !== undefined) {
        return stuck;
      }
    }
  }
  return undefined;
}

/** Until no attempt of the task runs, and none is due to follow: as long as it takes while parts are struck. */
export async function untilEnded(
  service: Service,
  taskId: string,
  course: Pick<Course, 'over'>,
): Promise<string | undefined> {
  let overSince: number | undefined;
  for (;;) {
    const standing = await standingOf(service, taskId).catch((error: unknown) => String(error));
    if (standing === undefined) {
      return undefined;
    }
    if (course.over()) {
      overSince ??= performance.now();
    }
    if (overSince !== undefined && performance.now() - overSince > settleWithinMs) {
      return `${taskId}: ${standing}`;
    }
    await delay(lookEveryMs);
  }
}

/** What the task still waits for; nothing when it is over. */
async function standingOf({ call }: Service, taskId: string): Promise<string | undefined> {
  const { state, attemptId } = await call.status(taskId);
  // Nothing was started, or what was started was refused.
  if (state === null || state === 'refused') {
    return undefined;
  }
  if (state !== 'ended') {
    return `${attemptId} is ${state}`;
  }
  const recovery = await call.ok('GET', `/api/agents/${taskId}/recovery`);
  const due = ['scheduled', 'launching'].includes(recovery?.state) && recovery.attemptId === attemptId;
  return due ? `a retry of ${attemptId} is due` : undefined;
}
