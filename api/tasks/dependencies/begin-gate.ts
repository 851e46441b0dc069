import type { Task, TaskStatus } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { Board } from '../../../stores/board-files/types';
import type { TraceStore } from '../../../stores/governance/trace-store';
import { blockersOf, isUnfinished } from './graph';
import { createGraphReader } from './read-graph';

/** Throws when the task may not get the checked status. Runs under the task's lock. */
export type AssertMayBegin = (current: Task) => void;

/**
 * Prevents people from beginning a task while something it waits for is unfinished. Runs of agents pass: they are admitted by
 * rules of their own and set the status past this gate.
 *
 * @returns checks a task and a status; the resulting function throws AppError 400 "Task is blocked" with
 *   `{blockedBy: [{id, title}]}`
 */
export function createBeginGate(
  board: Pick<Board, 'get' | 'list' | 'version'>,
): (id: string, status: TaskStatus | undefined) => Promise<AssertMayBegin> {
  const graph = createGraphReader(board);
  return async (id, status) => {
    if (status !== 'in-progress') {
      return () => undefined;
    }
    const task = await board.get(id);
    // Read again: another process may have finished one a moment ago, and the memory of this one lags behind.
    if (task) {
      for (const blocker of blockersOf(graph(), task.task)) {
        await board.get(blocker.id);
      }
    }
    return (current) => {
      if (current.status === 'in-progress') {
        return;
      }
      const unfinished = blockersOf(graph(), current).filter(isUnfinished);
      if (unfinished.length > 0) {
        throw new TaskBlockedError(unfinished);
      }
    };
  };
}

/** A task that waits for others which are unfinished. */
class TaskBlockedError extends AppError {
  constructor(
    readonly unfinished: readonly Pick<Task, 'id' | 'title' | 'status'>[],
    traceId?: string,
  ) {
    const message = 'Task is blocked';
    super('VALIDATION_ERROR', {
      status: 400,
      message,
      details: {
        blockedBy: unfinished.map(({ id, title }) => ({ id, title })),
        ...compact({ traceId }),
        issues: [{ path: 'status', message, code: 'custom' }],
      },
    });
  }
}

/** Records why a task may not begin, if that is what a change was refused for. @throws the error, with the trace's id */
export async function traceBlocked(traces: Pick<TraceStore, 'record'>, taskId: string, error: unknown): Promise<never> {
  if (!(error instanceof TaskBlockedError)) {
    throw error;
  }
  const { unfinished } = error;
  const ids = unfinished.map(({ id }) => id).join(', ');
  const traceId = await traces.record({
    kind: 'workflow-gate',
    outcome: 'blocked',
    title: `Begin of ${taskId}: blocked`,
    summary: `The task depends on unfinished tasks: ${ids}.`,
    remediation: `Finish these tasks, or remove them from its dependencies: ${ids}.`,
    subject: { taskId, actionType: 'task.begin' },
    evaluatedRules: unfinished.map(({ id, status }) => ({
      id,
      label: 'depends_on',
      type: 'dependency',
      status: 'matched',
      outcome: 'blocked',
      message: `${id} is ${status}.`,
    })),
  });
  throw new TaskBlockedError(unfinished, traceId);
}
