import type { ConflictFile, ConflictRead, ConflictReading, ConflictState } from '../../../contracts/runs/conflict';
import type { WorktreeRequest } from '../../../contracts/runs/worktrees/request';
import { refusalError } from '../../refusal-error';
import { manifestOf } from '../worktrees/read';
import type { ConflictsContext } from './context';

/**
 * The conflicts in the worktree of a task, as its host sees them now.
 *
 * @throws AppError 404 without a worktree, 503 without a host
 */
export async function readConflicts(context: ConflictsContext, taskId: string): Promise<ConflictState> {
  const reading = await ask(context, { taskId, read: { what: 'conflicts' } });
  if (reading.what !== 'conflicts') {
    throw new Error('A host has read a file instead of conflicts.');
  }
  return { taskId, ...reading.state };
}

/** A file in conflict in its versions. @throws AppError likewise, and 404 when it is not in conflict */
export async function readConflictFile(context: ConflictsContext, taskId: string, path: string): Promise<ConflictFile> {
  const reading = await ask(context, { taskId, read: { what: 'conflict', path } });
  if (reading.what !== 'conflict') {
    throw new Error('A host has read conflicts instead of a file.');
  }
  return { taskId, ...reading.file };
}

async function ask(context: ConflictsContext, read: ConflictRead): Promise<ConflictReading> {
  const { hostId } = await manifestOf(context, read.taskId);
  const reading = await context.worktreeLauncher.readConflicts(hostId, read);
  if ('status' in reading) {
    throw refusalError(reading);
  }
  return reading;
}

/** Runs an operation on the worktree of a task. @throws AppError when it was refused */
export async function operate(
  context: ConflictsContext,
  taskId: string,
  { request, actor }: { request: WorktreeRequest; actor: string },
): Promise<void> {
  await manifestOf(context, taskId);
  const outcome = await context.worktreeLauncher.operate(taskId, request, actor);
  if (outcome.status === 'refused') {
    throw refusalError(outcome);
  }
}
