import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  type Attachment,
  attachment,
  attachmentId,
  attachmentLimits,
  attachmentText,
  attachmentUpload,
  rejectedFile,
} from '../../../contracts/tasks/attachment';
import { type Task, task } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { findItem, withoutItem } from '../tasks/items';
import { createTaskChanger } from '../tasks/task-changer';
import { addAttachments, deleteAttachments } from './add';
import { createExamine } from './content/examine';
import { answerContent } from './download';

const tag = 'attachments';
const taskParams = z.strictObject({ taskId });
const attachmentParams = z.strictObject({ taskId, attachmentId });
const added = z
  .object({ attachments: z.array(attachment), task, rejected: z.array(rejectedFile) })
  .meta({ id: 'AttachmentsAdded' });

/** The fields of a form besides its files are small. */
const formBytes = 1_048_576;
const upload = {
  files: attachmentLimits.files,
  fileBytes: attachmentLimits.fileBytes,
  totalBytes: attachmentLimits.taskBytes + formBytes,
};

const textProblems = {
  limit: 'The text could not be extracted: limit. It requires more memory or time than allowed.',
  unreadable: 'The text could not be extracted: the file cannot be read.',
} as const;

/** Files that belong to a task (specification 1, Verification, …, attachments). */
export function attachmentRoutes(
  routes: Routes,
  { board, attachments: store }: Pick<ApiContext, 'board' | 'attachments'>,
): void {
  const changeTask = createTaskChanger(board);
  const examine = createExamine();

  async function find(id: string): Promise<Task> {
    const boardTask = await board.get(id);
    assertFound(boardTask, 'task', id);
    return boardTask.task;
  }

  const findAttachment = async (params: z.output<typeof attachmentParams>): Promise<Attachment> =>
    findItem((await find(params.taskId)).attachments, params.attachmentId, 'attachment');

  routes.add(
    {
      method: 'post',
      path: '/tasks/:taskId/attachments',
      operationId: 'addAttachments',
      summary: 'Attach files to a task; the response lists rejected files',
      tag,
      permission: 'task:write',
      params: taskParams,
      body: attachmentUpload,
      upload,
      response: added,
      status: 201,
      errors: [408, 409],
    },
    async (request, ctx) => {
      const { params, auth, header, body } = request;
      await find(params.taskId);
      const sender = { taskId: params.taskId, actor: auth.actor, files: body.files };
      return addAttachments({ attachments: store, examine }, sender, (change) =>
        changeTask({ params, auth, header }, ctx, change),
      );
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/attachments',
      operationId: 'listAttachments',
      summary: 'List attachments of a task, oldest first',
      tag,
      permission: 'task:read',
      params: taskParams,
      response: z.array(attachment),
      errors: [409],
    },
    async ({ params }) => (await find(params.taskId)).attachments ?? [],
  );

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/attachments/:attachmentId',
      operationId: 'getAttachment',
      summary: 'Read metadata of an attachment',
      tag,
      permission: 'task:read',
      params: attachmentParams,
      response: attachment,
      errors: [409],
    },
    ({ params }) => findAttachment(params),
  );

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/attachments/:attachmentId/download',
      operationId: 'downloadAttachment',
      summary: 'Download the content of an attachment, or a range of it',
      tag,
      permission: 'task:read',
      params: attachmentParams,
      response: z.undefined(),
      errors: [409, 410, 416],
    },
    async ({ params }, ctx) => answerContent(store, await findAttachment(params), ctx),
  );

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/attachments/:attachmentId/text',
      operationId: 'readAttachmentText',
      summary: 'Read the extracted text of an attachment',
      tag,
      permission: 'task:read',
      params: attachmentParams,
      response: attachmentText,
      errors: [409],
    },
    async ({ params }) => {
      const { id, textProblem } = await findAttachment(params);
      const text = (await store.text(id)) ?? null;
      const problem = text === null && textProblem ? { problem: textProblems[textProblem] } : {};
      return { attachmentId: id, text, hasText: text !== null, ...problem };
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/tasks/:taskId/attachments/:attachmentId',
      operationId: 'deleteAttachment',
      summary: 'Delete an attachment and return the task',
      tag,
      permission: 'task:write',
      params: attachmentParams,
      response: task,
      errors: [409],
      audit: ({ params }) => ({
        action: 'attachment.delete',
        resource: params.taskId,
        details: { attachmentId: params.attachmentId },
      }),
    },
    async (request, ctx) => {
      const { id } = await findAttachment(request.params);
      await store.doubt([id]);
      const changed = await changeTask(request, ctx, ({ attachments }) => ({
        attachments: withoutItem(attachments, id, 'attachment'),
      }));
      await deleteAttachments(store, [{ id }]);
      return changed;
    },
  );
}
