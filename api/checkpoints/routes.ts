import { z } from 'zod';
import { taskId } from '../../contracts/common';
import { checkpointPage, checkpointQuery } from '../../contracts/workspace-checkpoint';
import type { Routes } from '../../platform/http/routes';
import type { CheckpointStore } from '../../stores/checkpoint-store';
import { attemptOfTask } from '../runs/attempt';
import type { RunsContext } from '../runs/context';

/** What the endpoints of checkpoints call. */
export interface CheckpointsContext extends Pick<RunsContext, 'attempts'> {
  checkpoints: CheckpointStore;
}

/** The checkpoints of the worktree of a run. */
export function checkpointRoutes(routes: Routes, context: CheckpointsContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/workspace/checkpoints',
      operationId: 'listWorkspaceCheckpoints',
      summary: 'List the checkpoints of the worktree of an attempt, with whose each change is',
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
