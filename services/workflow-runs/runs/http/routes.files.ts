import { realpath } from 'node:fs/promises';
import { z } from 'zod';
import type { Routes } from '../../../../platform/http/routing/routes';
import { listFiles, readWorkspaceFile, TooManyFilesError } from '../../commands/workspace-files';
import { usePermission } from '../../http/auth';
import { refuse } from '../../http/errors';
import { requireFound } from '../../http/fields';
import { pageFields, pageFrom, pageOf } from '../../http/pages';
import type { RunsContext } from '../context';
import { runId } from '../run';
import { changedFile } from './contracts';

/** The files that a run has made. */
export function runFileRoutes(routes: Routes, { runs, checkpoints, workspaces }: RunsContext): void {
  routes.add(
    {
      method: 'get',
      mount: 'root',
      tag: 'runs',
      permission: usePermission,
      path: '/runs/:id/files',
      operationId: 'listRunFiles',
      summary: 'List files that the commands of a run have made in its workspace',
      params: z.strictObject({ id: runId }),
      query: z.strictObject({ ...pageFields, checkpoint: z.string().min(1).max(160).optional() }),
      response: pageOf(changedFile),
      errors: [409],
    },
    async ({ params, query: { checkpoint, ...page } }) => {
      const { _id } = requireFound(await runs.get(params.id), 'Run');
      if (checkpoint !== undefined) {
        requireFound(await checkpoints.get(_id, checkpoint), `Checkpoint ${JSON.stringify(checkpoint)}`);
      }
      const where = await workspaces.whereIs(_id);
      if (where === 'none') {
        throw refuse(404, 'Run has no workspace, and so no files.');
      }
      if (checkpoint !== undefined) {
        throw refuse(404, 'Checkpoints of runs hold no files.');
      }
      if (where === 'elsewhere') {
        throw refuse(409, 'The workspace of the run is on another host, whose service lists its files.');
      }
      const workspace = await realpath(workspaces.pathOf(_id)).catch(() => undefined);
      if (workspace === undefined) {
        throw refuse(404, 'The workspace of the run does not exist, or not any more.');
      }
      const { data: names, meta } = await pageFrom(await filesOf(workspace), page);
      const data = [];
      for (const name of names) {
        const new_file = { name, ...(await readWorkspaceFile(workspace, name)) };
        data.push({ old_file: { name, contents: '' }, new_file });
      }
      return { data, meta };
    },
  );
}

/** @throws AppError 409 when there are too many to list */
async function filesOf(workspace: string): Promise<string[]> {
  try {
    return await listFiles(workspace);
  } catch (error) {
    throw error instanceof TooManyFilesError ? refuse(409, error.message) : error;
  }
}
