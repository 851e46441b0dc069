import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  blobQuery,
  diffQuery,
  diffSummary,
  fileDiff,
  fileDiffQuery,
  fullDiff,
  fullDiffQuery,
} from '../../../contracts/runs/diff';
import { answersNotModified } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import type { DiffContext } from './context';
import { offsetOf, readDiff, tagOf, toDiffPage, toFileResponse } from './read';

const path = '/diff/:taskId';
const shared = {
  method: 'get' as const,
  tag: 'diff',
  permission: 'task:read',
  params: z.strictObject({ taskId }),
  errors: [404, 409, 413, 503],
};

/** What a task's branch and worktree have changed, file by file and line by line. */
export function diffRoutes(routes: Routes, context: DiffContext): void {
  routes.add(
    {
      ...shared,
      path,
      operationId: 'getDiff',
      summary: 'List files that differ between two states of a task, with totals',
      query: diffQuery,
      response: diffSummary,
    },
    async ({ params, query: { from, to, limit, cursor } }, ctx) => {
      const read = { what: 'files' as const, offset: offsetOf(cursor), limit };
      const { page } = await readDiff(context, params.taskId, { from, to, read });
      return toDiffPage(ctx, page, { taskId: params.taskId, from, to, cursor });
    },
  );

  routes.add(
    {
      ...shared,
      path: `${path}/full`,
      operationId: 'getFullDiff',
      summary: 'List files that differ between two states of a task, with their lines',
      query: fullDiffQuery,
      response: fullDiff,
    },
    async ({ params, query: { from, to, limit, cursor } }, ctx) => {
      const read = { what: 'full' as const, offset: offsetOf(cursor), limit };
      const { page } = await readDiff(context, params.taskId, { from, to, read });
      return toDiffPage(ctx, page, { taskId: params.taskId, from, to, cursor });
    },
  );

  routes.add(
    {
      ...shared,
      path: `${path}/file`,
      operationId: 'getFileDiff',
      summary: 'Compare the lines of a file in two states of a task',
      query: fileDiffQuery,
      response: fileDiff,
    },
    async ({ params, query: { path: file, from, to } }, ctx) => {
      const { page } = await readDiff(context, params.taskId, { from, to, read: { what: 'file', path: file } });
      const [diff] = page.files;
      if (!diff) {
        throw new Error('A host has read no file.');
      }
      const tag = tagOf([page.from.tree, page.to.tree, file]);
      return answersNotModified(ctx, tag) ? undefined : diff;
    },
  );

  routes.add(
    {
      ...shared,
      path: `${path}/blob`,
      operationId: 'getDiffBlob',
      summary: 'Download a file of a task as it is in one state',
      query: blobQuery,
      response: z.undefined(),
    },
    async ({ params, query: { path: file, revision } }, ctx) => {
      const read = { what: 'blob' as const, path: file };
      const reading = await readDiff(context, params.taskId, { from: revision, to: revision, read });
      return toFileResponse(ctx, reading.file, file);
    },
  );
}
