import { realpath } from 'node:fs/promises';
import { z } from 'zod';
import type { Routes } from '../../../../platform/http/routing/routes';
import { listFiles, readWorkspaceFile, TooManyFilesError } from '../../commands/workspace-files';
import { usePermission } from '../../http/auth';
import { refuse } from '../../http/errors';
import { requireFound } from '../../http/fields';
import { pageFields, pageFrom, pageOf } from '../../http/pages';
import { GitFailedError } from '../../snapshots/git';
import type { WorkspaceBase } from '../../snapshots/snapshots';
import type { RunsContext } from '../context';
import { runId } from '../run';
import { changedFile } from './contracts';

/** The files that a run has made. */
export function runFileRoutes(routes: Routes, { runs, checkpoints, workspaces, snapshots }: RunsContext): void {
  /** What has changed since the workspace began. @throws AppError 404 when its commits are removed */
  async function changesUpTo(
    runId: string,
    commit: string,
    { repository, page }: { repository: WorkspaceBase | undefined; page: Parameters<typeof pageFrom>[1] },
  ) {
    const changes = await snapshots.changes(runId, commit, repository).catch((error: unknown) => {
      throw error instanceof GitFailedError ? refuse(404, 'The commits of the run do not exist any more.') : error;
    });
    const { data: shown, meta } = await pageFrom(changes, page);
    const data = [];
    for (const { path: name, before, after } of shown) {
      const [old_file, new_file] = await Promise.all([before, after].map((id) => snapshots.contents(runId, id)));
      data.push({
        old_file: { name, contents: old_file?.contents ?? '' },
        new_file: { name, contents: '', ...new_file },
      });
    }
    return { data, meta };
  }

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
      const run = requireFound(await runs.get(params.id), 'Run');
      const { _id } = run;
      const { checkpoint: latest, repository } = run;
      const selected =
        checkpoint === undefined
          ? repository && latest
          : requireFound(await checkpoints.get(_id, checkpoint), `Checkpoint ${JSON.stringify(checkpoint)}`);
      const where = await workspaces.whereIs(_id);
      if (where === 'none') {
        throw refuse(404, 'Run has no workspace, and so no files.');
      }
      if (checkpoint !== undefined && selected?.git_commit_sha === undefined) {
        throw refuse(404, 'The checkpoint has no commit: no command had ended, or the workspace was too large.');
      }
      if (where === 'elsewhere') {
        throw refuse(409, 'The workspace of the run is on another host, whose service lists its files.');
      }
      if (selected?.git_commit_sha !== undefined) {
        return changesUpTo(_id, selected.git_commit_sha, { repository, page });
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
