import { z } from 'zod';
import type { OpenArea } from '../context';
import { usePermission } from '../http/auth';
import { pathPart, requireFound } from '../http/fields';
import { pageFields, pageOf, readPage } from '../http/pages';
import { smoothness } from '../runs/run';
import { retroItemOf, retroOf } from './retro';
import { retroDetail, retroItem } from './retro-detail';
import { createRetroStore } from './store';

const read = { method: 'get' as const, mount: 'root' as const, tag: 'retros', permission: usePermission };

/** What is to be learnt from runs that have ended. */
export const openRetros: OpenArea = async ({ database, runs }) => {
  const retros = await createRetroStore(database);
  return (routes) => {
    routes.add(
      {
        ...read,
        path: '/runs/:id/retro',
        operationId: 'getRunRetro',
        summary: 'Read the retro of a run; null before its end',
        params: z.object({ id: pathPart }),
        response: retroDetail.nullable(),
      },
      async ({ params }) => retroOf(requireFound(await runs.getWhole(params.id), 'Run')) ?? null,
    );
    routes.add(
      {
        ...read,
        path: '/retros',
        operationId: 'listRetros',
        summary: 'List retros by workflow and smoothness, newest first',
        query: z.strictObject({ ...pageFields, workflow: pathPart.optional(), smoothness: smoothness.optional() }),
        response: pageOf(retroItem),
      },
      async ({ query }) => {
        const { workflow, smoothness: expected, ...page } = query;
        const { data, meta } = await readPage(page, (part) => retros.list({ workflow, smoothness: expected }, part));
        return { data: (await Promise.all(data.map(runs.whole))).map(retroItemOf), meta };
      },
    );
  };
};
