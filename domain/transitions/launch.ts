import type { Refusal } from '../../contracts/refusal';
import type { TransitionHooks } from '../../contracts/settings/transition-hook';
import type { Task } from '../../contracts/tasks/task';
import { refusal } from '../refusal';
import { statusEffects } from '../status-effects';
import { judgeTransition } from './gates';

/** Stands for the agent of a run that is about to start: every run has one. */
const agentOfRun = 'run';

/** Why a run may not start that sets its task to `in-progress`; `undefined` when it may, or sets no other status. */
export function launchGateRefusal(hooks: TransitionHooks, task: Task): Refusal | undefined {
  const started = {
    ...task,
    ...statusEffects('in-progress', task),
    status: 'in-progress' as const,
    agent: task.agent ?? agentOfRun,
  };
  const { allowed, errorMessage = '', failedGates, gateResults } = judgeTransition(hooks, task.status, started);
  return allowed
    ? undefined
    : refusal('RUN_NOT_READY', errorMessage, { code: failedGates[0], failedGates, gateResults, taskId: task.id });
}
