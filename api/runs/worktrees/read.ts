import type { z } from 'zod';
import type { WorktreeRequest } from '../../../contracts/runs/worktrees/request';
import type { cleanupPreviewPage, WorktreeStatus } from '../../../contracts/runs/worktrees/worktree';
import { AppError, assertFound } from '../../../platform/errors/app-error';
import { offsetOfPage, type PagedBody, type PageRequest } from '../../../platform/lists/page';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { refusalError } from '../../refusal-error';
import type { WorktreesContext } from './context';
import { presentCleanup, presentWorktree } from './present';

/** The manifest of a task's worktree. @throws AppError 404, naming whether the task or the worktree is missing */
export async function manifestOf(
  { board, worktrees }: Pick<WorktreesContext, 'board' | 'worktrees'>,
  taskId: string,
): Promise<WorktreeRecord> {
  const record = await worktrees.get(taskId);
  if (record) {
    return record;
  }
  const task = await board.get(taskId);
  assertFound(task, 'task', taskId);
  const legacy = task.task.git?.worktreePath;
  const advice = legacy === undefined ? 'create it with POST' : `adopt ${legacy} with POST …/worktree/adopt`;
  throw new AppError('WORKTREE_NOT_FOUND', {
    status: 404,
    message: `The task has no worktree; ${advice}.`,
    details: { taskId },
  });
}

/** The present worktree. */
export async function readWorktree(context: WorktreesContext, taskId: string): Promise<WorktreeStatus> {
  const record = await manifestOf(context, taskId);
  const [inspection] = await context.worktreeLauncher.inspect([{ taskId, hostId: record.hostId }]);
  return presentWorktree(record, inspection, context.now());
}

/** Runs an operation and returns the worktree afterwards. */
export async function operate(
  context: WorktreesContext,
  taskId: string,
  { request, actor }: { request: WorktreeRequest; actor: string },
): Promise<WorktreeStatus> {
  const outcome = await context.worktreeLauncher.operate(taskId, request, actor);
  if (outcome.status === 'refused') {
    throw refusalError(outcome);
  }
  return presentWorktree(await manifestOf(context, taskId), outcome.inspection, context.now());
}

/** Worktrees whose lease is over, a page of them with what a removal of each would meet. */
export async function expiredWorktrees(
  context: WorktreesContext,
  { page, limit, cursor }: PageRequest & { page: number },
): Promise<PagedBody<Omit<z.infer<typeof cleanupPreviewPage>, 'nextCursor'>>> {
  const { worktrees, worktreeLauncher } = context;
  const now = context.now();
  const before = now.toISOString();
  const [expired, total] = await Promise.all([
    worktrees.expired(before, { limit, cursor, offset: offsetOfPage(page, limit) }),
    worktrees.countExpired(before),
  ]);
  const records = expired.items;
  const locations = records.map(({ _id: taskId, hostId }) => ({ taskId, hostId }));
  const inspections = locations.length === 0 ? [] : await worktreeLauncher.inspect(locations);
  return expired.answer({
    candidates: records.map((record, index) => presentCleanup(record, inspections[index], now)),
    pagination: { page, limit, total, totalPages: Math.ceil(total / limit) },
  });
}
