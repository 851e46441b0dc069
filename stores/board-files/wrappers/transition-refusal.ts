import { transitionGate, type TransitionVerdict } from '../../../contracts/settings/transition-hook';
import type { TaskStatus } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import type { TraceStore } from '../../governance/trace-store';

/** Which change was refused. `taskId` is empty for a task that was not created. */
interface RefusedChange {
  taskId: string;
  from: TaskStatus;
  to: TaskStatus;
  revision: number;
}

/** Thrown out of a change, under the lock: the gates of a transition rule do not let it pass. */
export class TransitionRefusedError extends Error {
  override readonly name = 'TransitionRefusedError';

  constructor(
    readonly verdict: TransitionVerdict,
    readonly change: RefusedChange,
  ) {
    super(verdict.errorMessage);
  }
}

/** Runs `work`, and writes down which gates refused its change. @throws AppError 400 with the gates and the trace */
export async function traced<T>(traces: Pick<TraceStore, 'record'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TransitionRefusedError)) {
      throw error;
    }
    const { verdict, change } = error;
    throw gatesFailed(verdict, await record(traces, verdict, change));
  }
}

/** Once for the same refusal of the same version of a task. */
function record(
  traces: Pick<TraceStore, 'record'>,
  { gateResults, errorMessage = '' }: TransitionVerdict,
  { taskId, from, to, revision }: RefusedChange,
): Promise<string> {
  const failed = gateResults.filter(({ passed }) => !passed);
  const about = taskId === '' ? {} : { taskId };
  return traces.record({
    kind: 'workflow-gate',
    outcome: 'blocked',
    title: `Change of ${taskId === '' ? 'a new task' : taskId} from ${from} to ${to}: blocked`,
    summary: errorMessage,
    remediation: failed.map(({ message }) => message).join(' '),
    subject: { ...about, actionType: 'task.transition' },
    evaluatedRules: gateResults.map(({ gate, passed, rules, message = 'The task has what the gate requires.' }) => ({
      id: gate,
      label: rules.join(', '),
      type: 'transition-gate',
      status: passed ? 'not-matched' : 'matched',
      outcome: passed ? 'allowed' : 'blocked',
      message,
    })),
    ...(taskId === ''
      ? {}
      : { dedupeKey: ['transition', taskId, revision, from, to, ...failed.map(({ gate }) => gate)].join('\n') }),
  });
}

/** The refusal of a change that gates do not let pass, as HTTP answers it: `code` is the first of them. */
function gatesFailed({ gateResults, failedGates, errorMessage = '' }: TransitionVerdict, traceId: string): AppError {
  const failed = gateResults.filter(({ passed }) => !passed);
  const issues = failed.map(({ gate, message = '' }) => ({ path: 'status', message, code: gate }));
  const details = { code: failedGates[0], failedGates, gateResults, traceId, issues };
  return new AppError('VALIDATION_ERROR', { status: 400, message: errorMessage, details });
}

/** Whether a change was refused by the gates of a transition rule. */
export const isGateRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && transitionGate.safeParse(error.details.code).success;
