import { z } from 'zod';
import { localWorkspace } from '../../../contracts/common';
import { debugBundle, logPage, logQuery, maintenanceSummary } from '../../../contracts/system/maintenance';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { recentLines } from '../../../platform/log/recent-lines';
import type { ApiContext } from '../../context';
import { createHealthReport } from '../health/report';
import { runChecks } from '../health/run-checks';
import { createCleaner } from './clean';
import { collectBundle } from './debug-bundle';
import { readEntries } from './log-entries';
import { summarize } from './summary';

const tag = 'maintenance';
const read = { method: 'get' as const, tag, permission: 'backup:read' };

/** One process serves all workspaces, and its log is about all of them. @throws AppError 403 elsewhere than in `local` */
function assertLocal({ workspaceId }: AuthContext): void {
  if (workspaceId !== localWorkspace) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: `The log of the service is about all workspaces: it is read in the workspace ${localWorkspace}.`,
      details: { workspaceId },
    });
  }
}

/** What an operator looks after: the state of everything, the log, and a bundle for those who help (supplement 10.25). */
export function maintenanceRoutes(routes: Routes, context: ApiContext): void {
  const { checks, log, env, startedAt } = context;
  const clean = createCleaner(env);
  const readHealth = createHealthReport({ ...checks, ...runChecks(context) }, log);

  routes.add(
    {
      ...read,
      path: '/maintenance/summary',
      operationId: 'getMaintenanceSummary',
      summary: 'Read the state of every part, of tasks, skills and logs, in numbers',
      response: maintenanceSummary,
    },
    async () => summarize(context, await readHealth(), clean),
  );

  routes.add(
    {
      ...read,
      path: '/maintenance/logs',
      operationId: 'listLogEntries',
      summary: 'List the latest lines that this replica has logged, newest first, without secrets',
      query: logQuery,
      response: logPage,
    },
    async ({ query: { limit, cursor, ...filter }, auth }) => {
      assertLocal(auth);
      const before = typeof cursor?.key === 'number' ? cursor.key : Infinity;
      const newest = recentLines()
        .filter(({ sequence }) => sequence < before)
        .reverse();
      const page = slicePage(
        await readEntries(newest, { clean, limit: limit + 1, filter }),
        { limit, cursor },
        { positionOf: ({ sequence }) => ({ key: sequence, id: String(sequence) }), direction: -1 },
      );
      return page.answer({ startedAt: startedAt.toISOString(), entries: page.items });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/maintenance/debug-bundle',
      operationId: 'createDebugBundle',
      summary: 'Collect the state of the service for those who help, without secrets',
      tag,
      permission: 'backup:write',
      // What is collected is the state at the time of each request.
      idempotency: 'none',
      body: z.strictObject({}),
      response: debugBundle,
      audit: () => ({ action: 'maintenance.debug-bundle' }),
    },
    async ({ auth }, ctx) => {
      assertLocal(auth);
      const summary = await summarize(context, await readHealth(), clean);
      const bundle = await collectBundle(context, summary, clean);
      ctx.set('Content-Disposition', 'attachment; filename="debug-bundle.json"');
      ctx.set('Cache-Control', 'no-store');
      return bundle;
    },
  );
}
