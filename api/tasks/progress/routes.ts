import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  progressLimit,
  saved,
  taskProgress,
  taskProgressAppend,
  taskProgressWrite,
} from '../../../contracts/tasks/progress';
import { AppError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { currentOperation, operationBytes } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { appendToSection, markOfAddition } from './sections';

const byTask = { tag: 'progress', params: z.strictObject({ taskId }) };
const path = '/tasks/:taskId/progress';
const writes = { ...byTask, permission: 'task:write', response: saved, errors: [409] };
const done = { success: true as const };

/** @throws AppError 413 when the progress has become longer than it may */
function withinLimit(content: string): string {
  if (content.length <= progressLimit) {
    return content;
  }
  throw new AppError('PAYLOAD_TOO_LARGE', {
    status: 413,
    message: `The progress of a task can have at most ${progressLimit} characters; shorten it.`,
    details: { limit: progressLimit, length: content.length },
  });
}

/** What has been done on a task so far, as markdown (specification 1, Tasks: progress). */
export function progressRoutes(routes: Routes, { board: { progress } }: Pick<ApiContext, 'board'>): void {
  routes.add(
    {
      ...byTask,
      method: 'get',
      path,
      operationId: 'getProgress',
      summary: 'Read the progress of a task',
      permission: 'task:read',
      response: taskProgress,
      errors: [409],
    },
    async ({ params }) => ({ content: await progress.read(params.taskId) }),
  );

  routes.add(
    {
      ...writes,
      method: 'put',
      path,
      operationId: 'putProgress',
      summary: 'Replace the progress of a task',
      body: taskProgressWrite,
    },
    async ({ params, body }) => {
      await progress.change(params.taskId, () => body.content);
      return done;
    },
  );

  routes.add(
    {
      ...writes,
      method: 'post',
      path: `${path}/append`,
      operationId: 'appendProgress',
      summary: 'Append to a section of the progress of a task; a missing section is created',
      body: taskProgressAppend,
    },
    async ({ params, body: { section, content } }) => {
      const mark = currentOperation()?.isKeyed
        ? markOfAddition(operationBytes('progress', 8).toString('hex'))
        : undefined;
      await progress.change(params.taskId, (before) => {
        // The file is written before the key is recorded as used: a process may have died in between.
        if (mark !== undefined && before.includes(mark)) {
          return before;
        }
        return withinLimit(appendToSection(before, { section, addition: content, mark }));
      });
      return done;
    },
  );
}
