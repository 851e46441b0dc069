import type { GoalRunLink } from '../../../contracts/governance/goals/changes';
import type { Goal, GoalRun } from '../../../contracts/governance/goals/goal';
import { goalLimits } from '../../../domain/goals/limits';
import { hasRun, withRun } from '../../../domain/goals/runs';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { ApiContext } from '../../context';
import { attemptOfTask } from '../../runs/attempts/attempt';
import { assertOpen } from './transition';

export type LinkContext = Pick<ApiContext, 'goals' | 'attempts' | 'board' | 'admissionRequests'>;

/**
 * The run that a caller links, whose facts are those of the stores: what the caller states of it must agree with them.
 *
 * @throws AppError 400, 404, 409
 */
export async function runToLink(
  context: LinkContext,
  { taskId, attemptId, ...stated }: Omit<GoalRunLink, 'expectedRevision'>,
  at: string,
): Promise<GoalRun> {
  assertFound(await context.board.get(taskId), 'task', taskId);
  const attempt =
    attemptId === undefined ? await context.attempts.latest(taskId) : await attemptOfTask(context, taskId, attemptId);
  assertFound(attempt, 'attempt', attemptId ?? taskId);
  if (attempt.state === 'refused') {
    throw validationError([{ path: 'attemptId', message: 'was refused and is no run' }]);
  }
  const known = compact({
    workflowRunId: (await context.admissionRequests.get(attempt._id))?.workflowRunId,
    conversationId: conversationOf(attempt),
    parentAttemptId: attempt.parentAttemptId,
  });
  const wrong = (['workflowRunId', 'conversationId', 'parentAttemptId'] as const).filter(
    (field) => stated[field] !== undefined && stated[field] !== known[field],
  );
  if (wrong.length > 0) {
    throw validationError(wrong.map((path) => ({ path, message: `is not that of the attempt ${attempt._id}` })));
  }
  return { taskId, attemptId: attempt._id, kind: 'linked', ...known, linkedAt: at };
}

/** The session that a run continued, or left. */
const conversationOf = ({ continuation, completion }: AttemptRecord): string | undefined =>
  completion?.claims.continuation?.reference ?? continuation?.reference;

/** @throws AppError 409 when the run is another goal's */
export async function reserveRun(
  { goals }: Pick<LinkContext, 'goals'>,
  goalId: string,
  attemptId: string,
): Promise<void> {
  const owner = await goals.link(attemptId, goalId);
  if (owner !== goalId) {
    throw conflict(
      `The run ${attemptId} is one of the goal ${owner}.`,
      { goalId: owner, attemptId },
      'GOAL_RUN_LINKED',
    );
  }
}

/** The goal with a linked run. @throws AppError 409 when it has no room for another one */
export function linked(goal: Goal, run: GoalRun): Goal {
  if (hasRun(goal, run.attemptId)) {
    return goal;
  }
  assertOpen(goal);
  if (goal.continuationChain.length >= goalLimits.runs) {
    const message = `A goal has at most ${goalLimits.runs} runs: end it, and create another one.`;
    throw conflict(message, { goalId: goal.id, limits: goalLimits }, 'GOAL_FULL');
  }
  return withRun(goal, run);
}
