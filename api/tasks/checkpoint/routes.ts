import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { taskCheckpointResponse, taskCheckpointSave, taskCheckpointSaved } from '../../../contracts/tasks/checkpoint';
import { saved } from '../../../contracts/tasks/progress';
import { AppError, assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { createTaskChanger } from '../tasks/task-changer';
import { readCheckpoint } from './read';
import { withoutSecrets } from './secrets';

const shared = {
  tag: 'checkpoint',
  path: '/tasks/:taskId/checkpoint',
  params: z.strictObject({ taskId }),
  errors: [409],
};

/**
 * The state in which work on a task was interrupted (specification 1, Tasks: checkpoint). The next run of the task receives it.
 * The effect of a new status on it is in `statusEffects`.
 */
export function taskCheckpointRoutes(
  routes: Routes,
  { board, taskCheckpoints }: Pick<ApiContext, 'board' | 'taskCheckpoints'>,
): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      ...shared,
      method: 'post',
      operationId: 'saveCheckpoint',
      summary: 'Save the checkpoint of a task, replacing the last one; secrets are redacted',
      permission: 'task:write',
      body: taskCheckpointSave,
      response: taskCheckpointSaved,
    },
    async (request, ctx) => {
      const { step = 0 } = request.body;
      const state = withoutSecrets(request.body.state);
      const { id, timestamp } = await taskCheckpoints.keep(request.params.taskId, state);
      let before: string | undefined;
      let resumeCount = 0;
      try {
        await changeTask(request, ctx, (current) => {
          before = current.checkpoint?.id;
          resumeCount = taskCheckpoints.resumes(current);
          return { checkpoint: { id, step, timestamp, resumeCount } };
        });
      } catch (error) {
        // A refusal: nothing was written. After any other error the task may name the state, which else expires.
        if (error instanceof AppError) {
          await taskCheckpoints.forget(id);
        }
        throw error;
      }
      if (before !== undefined) {
        await taskCheckpoints.forget(before);
      }
      return { success: true as const, checkpoint: { step, state, timestamp, resumeCount } };
    },
  );

  routes.add(
    {
      ...shared,
      method: 'get',
      operationId: 'getCheckpoint',
      summary: 'Read the checkpoint of a task',
      permission: 'task:read',
      response: taskCheckpointResponse,
    },
    ({ params }) => readCheckpoint({ board, taskCheckpoints }, params.taskId),
  );

  routes.add(
    {
      ...shared,
      method: 'delete',
      operationId: 'clearCheckpoint',
      summary: 'Delete the checkpoint of a task',
      permission: 'task:write',
      response: saved,
    },
    async (request, ctx) => {
      const task = await board.get(request.params.taskId);
      assertFound(task, 'task', request.params.taskId);
      if (!task.task.checkpoint) {
        return { success: true as const };
      }
      let before: string | undefined;
      await changeTask(request, ctx, ({ checkpoint }) => {
        before = checkpoint?.id;
        return { checkpoint: undefined };
      });
      if (before !== undefined) {
        await taskCheckpoints.forget(before);
      }
      return { success: true as const };
    },
  );
}
