import type { Task, TaskStatus } from '../../contracts/task';
import { AppError } from '../../platform/errors/app-error';
import type { Board } from '../../stores/board-files/types';
import { blockersOf, isUnfinished } from './graph';
import { createGraphReader } from './read-graph';

/** Throws when the task may not be given the status that was asked about. Runs under the task's lock. */
export type AssertMayBegin = (current: Task) => void;

/**
 * Keeps people from beginning a task while something it waits for is unfinished. Runs of agents are let through: they
 * are admitted by rules of their own and set the status past this gate.
 *
 * @returns asks about a task and a status; what is answered throws AppError 400 "Task is blocked" with
 *   `{blockedBy: [{id, title}]}`
 */
export function createBeginGate(
  board: Pick<Board, 'get' | 'list' | 'version'>,
): (id: string, status: TaskStatus | undefined) => Promise<AssertMayBegin> {
  const graph = createGraphReader(board);
  return async (id, status) => {
    if (status !== 'in-progress') return () => undefined;
    const found = await board.get(id);
    // Read anew: another process may have finished one a moment ago, and the memory of this one lags behind.
    if (found) for (const blocker of blockersOf(graph(), found.task)) await board.get(blocker.id);
    return (current) => {
      if (current.status === 'in-progress') return;
      const unfinished = blockersOf(graph(), current).filter(isUnfinished);
      if (unfinished.length > 0) throw taskBlocked(unfinished);
    };
  };
}

function taskBlocked(unfinished: readonly Task[]): AppError {
  const message = 'Task is blocked';
  return new AppError('VALIDATION_ERROR', 400, message, {
    blockedBy: unfinished.map(({ id, title }) => ({ id, title })),
    issues: [{ path: 'status', message, code: 'custom' }],
  });
}
