import { createHash } from 'node:crypto';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import type { TaskCreate } from '../../contracts/tasks/task';
import { AppError } from '../../platform/errors/app-error';
import type { Board } from '../../stores/board-files/board';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import { requireAllowed } from '../../stores/governance/require-allowed';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { RecoveryStore } from '../../stores/runs/recovery-store';
import type { RoutingStore } from '../../stores/settings/routing-store';
import type { AgentRunInput, RunTimings } from '../../workflows/agent-run/messages';

/** What activities need that launch an agent for something else than a request, on a task that they may create. */
export interface OnceLaunchDependencies {
  board: Pick<Board, 'create' | 'get'>;
  rules: DecisionPoint;
  attempts: Pick<AttemptStore, 'get'>;
  recoveries: Pick<RecoveryStore, 'get'>;
  routing: Pick<RoutingStore, 'configuration'>;
  /** Starts the run under this id once, and returns the decision; `undefined` when its workflow is over. */
  launch(input: AgentRunInput): Promise<LaunchOutcome | undefined>;
  workspaceId: string;
  timings: RunTimings;
  now(): Date;
}

/** Hexadecimal digits, the same for the same parts. */
const digestOf = (parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex');

/** The id of an attempt, the same however often it is launched. */
export const attemptIdOf = (...parts: (string | number)[]): string => `attempt_${digestOf(parts).slice(0, 12)}`;

/**
 * The id of a task, the same however often it is created.
 *
 * @param createdAt the time whose day it names, as ISO text
 */
export const taskIdOf = (createdAt: string, ...parts: string[]): string =>
  `task_${createdAt.slice(0, 10).replaceAll('-', '')}_${digestOf(parts).slice(0, 8)}`;

/**
 * Creates a task in an actor's name, by the rules of now; an earlier try may have.
 *
 * @returns why it was refused, if it was
 */
export async function createTaskOnce(
  { board, rules }: Pick<OnceLaunchDependencies, 'board' | 'rules'>,
  { taskId, input, actor }: { taskId: string; input: TaskCreate & { title: string }; actor: string },
): Promise<{ taskId: string } | { error: string }> {
  if (await board.get(taskId)) {
    return { taskId };
  }
  try {
    const { project, title } = input;
    await requireAllowed(rules, { action: 'create-task', actor, project, subject: { ...input }, change: title });
    await board.create(input, { actor, id: taskId });
  } catch (error) {
    if (!(error instanceof AppError) || error.status === 503) {
      throw error;
    }
    // A deleted task has its id for as long as it can be restored.
    return { error: `${error.code}: ${error.message}` };
  }
  return { taskId };
}

/** Of a launch whose workflow was ended from outside before it had an attempt: nothing is under way, nor will be. */
const undecided: LaunchOutcome = {
  status: 'refused',
  code: 'LAUNCH_ENDED',
  message: 'The workflow of the launch has ended without a decision. Launch again.',
  details: {},
};

/** Launches an agent through the ordinary path, once. @returns the decision, also that of an earlier try */
export async function launchOnce(
  deps: OnceLaunchDependencies,
  input: Pick<AgentRunInput, 'attemptId' | 'taskId' | 'request' | 'actor' | 'origin' | 'conversation'>,
): Promise<LaunchOutcome | undefined> {
  const { attempts, timings, workspaceId } = deps;
  const { maxRetries } = (await deps.routing.configuration()).value;
  const outcome = await deps.launch({ ...input, workspaceId, timings, maxRetries });
  if (outcome) {
    return outcome;
  }
  const attempt = await attempts.get(input.attemptId);
  return attempt ? attempt.launch : undecided;
}
