import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { checkpointPage, checkpointQuery } from '../../../contracts/runs/checkpoint';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { attemptOfTask } from '../attempts/attempt';

/** The checkpoints of the worktree of a run. */
export function checkpointRoutes(routes: Routes, context: Pick<WorkflowContext, 'attempts' | 'checkpoints'>): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/workspace/checkpoints',
      operationId: 'listWorkspaceCheckpoints',
      summary: 'List worktree checkpoints of an attempt with the author of each change',
      tag: 'runs',
      permission: 'agent:read',
      params: z.strictObject({ taskId }),
      query: checkpointQuery,
      response: checkpointPage,
      errors: [404],
    },
    async ({ params, query: { attemptId, afterNumber, ...part } }) => {
      const record = await attemptOfTask(context, params.taskId, attemptId);
      const page = await context.checkpoints.page(record._id, afterNumber, part);
      return page.answer({
        taskId: record.taskId,
        attemptId: record._id,
        checkpoints: page.items,
        hasMore: page.next !== undefined,
      });
    },
  );
}
