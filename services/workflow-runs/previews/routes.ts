import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { usePermission } from '../http/auth';
import { refuse } from '../http/errors';
import { requireFound } from '../http/fields';
import { pageOf, pageQuery, readPage } from '../http/pages';
import type { RunsContext } from '../runs/context';
import { argv, text } from '../runs/http/contracts';
import { runId } from '../runs/run';
import { previewEnds, type PreviewRecord } from './preview';

const shared = { mount: 'root' as const, tag: 'previews', permission: usePermission };
const byId = z.strictObject({ id: runId });
const byPreview = z.strictObject({ id: runId, previewId: z.string().max(40) });

const previewInput = z
  .strictObject({
    port: z.number().int().min(1).max(65_535),
    expires_in_secs: z.number().int().min(1).max(86_400),
    /** What serves the port: a program and its arguments, none in a shell. Without it: another URL of a preview that runs. */
    command: argv.optional(),
    /** Where it is started in the workspace, and its preset; as commands of the run when absent. */
    directory: text(500).optional(),
    sandbox: text(64).optional(),
  })
  .refine(({ command, directory, sandbox }) => command !== undefined || (directory ?? sandbox) === undefined, {
    path: ['command'],
    message: 'is required with directory or sandbox',
  })
  .meta({ id: 'PreviewInput' });

const opened = z
  .object({
    id: z.string(),
    url: z
      .string()
      .meta({ description: 'Every caller that has it reaches the program, on the host of the service alone' }),
    expires_at: z.string(),
  })
  .meta({ id: 'OpenedPreview' });

const output = z.object({ text: z.string(), bytes: z.number().int() });
const preview = z
  .object({
    id: z.string(),
    port: z.number().int(),
    command: z.array(z.string()),
    created_by: z.string(),
    status: z.enum(['running', 'ended']),
    started_at: z.string(),
    expires_at: z.string(),
    ended_at: z.string().optional(),
    end: z.enum(previewEnds).optional().meta({ description: 'Why it is over' }),
    exit_code: z.number().int().nullable().optional(),
    stdout: output.optional().meta({ description: 'The beginning of what it has written, and how much that was' }),
    stderr: output.optional(),
  })
  .meta({ id: 'Preview' });

const presented = ({ _id, run_id: _run, queue: _queue, ...record }: PreviewRecord) => ({ id: _id, ...compact(record) });

/** Previews of runs (specification 3, C): a program that serves a port, for a while and on the loopback alone. */
export function previewRoutes(routes: Routes, { runs, previews, previewStore }: RunsContext): void {
  /** @throws AppError 404 */
  const found = async ({ id, previewId }: z.output<typeof byPreview>): Promise<PreviewRecord> => {
    const record = await previewStore.get(previewId);
    return requireFound(record?.run_id === id ? record : undefined, 'Preview');
  };

  routes.add(
    {
      ...shared,
      method: 'post',
      path: '/runs/:id/preview',
      operationId: 'previewRun',
      summary: 'Start a program that serves a port, in the workspace of a run and a sandbox, and open a URL of it',
      params: byId,
      body: previewInput,
      response: opened,
      status: 201,
      errors: [409],
    },
    async ({ params, body: { port, expires_in_secs: expiresInSecs, ...input }, auth }, ctx) => {
      const run = requireFound(await runs.get(params.id), 'Run');
      ctx.set('Cache-Control', 'no-store');
      return previews.open(run, { port, expiresInSecs, user: auth.userId, ...input });
    },
  );

  routes.add(
    {
      ...shared,
      method: 'get',
      path: '/runs/:id/previews',
      operationId: 'listRunPreviews',
      summary: 'List the latest previews of a run, newest first',
      params: byId,
      query: pageQuery,
      response: pageOf(preview),
    },
    async ({ params, query }) => {
      const { _id } = requireFound(await runs.get(params.id), 'Run');
      const { data, meta } = await readPage(query, (range) => previewStore.ofRun(_id, range));
      return { data: data.map(presented), meta };
    },
  );

  routes.add(
    {
      ...shared,
      method: 'get',
      path: '/runs/:id/previews/:previewId',
      operationId: 'getRunPreview',
      summary: 'Read a preview with what its program has written so far, and its end',
      params: byPreview,
      response: preview,
    },
    async ({ params }) => {
      const record = await found(params);
      return { ...presented(record), ...previews.outputOf(record._id) };
    },
  );

  routes.add(
    {
      ...shared,
      method: 'delete',
      path: '/runs/:id/previews/:previewId',
      operationId: 'stopRunPreview',
      summary: 'Stop a preview; its program is killed and its URLs lead nowhere',
      params: byPreview,
      response: z.undefined(),
      status: 204,
      errors: [409],
    },
    async ({ params }) => {
      const { _id, status } = await found(params);
      if (!(await previews.stop(_id)) && status === 'running') {
        throw refuse(409, 'The preview is of another host, whose service ends it.');
      }
      return undefined;
    },
  );
}
