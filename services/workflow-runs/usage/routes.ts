import { z } from 'zod';
import type { OpenArea } from '../context';
import { usePermission } from '../http/auth';
import { pathPart, requireFound } from '../http/fields';
import { createUsageTotals } from './totals';
import { aggregateUsage, runUsage, usageOf } from './usage';

const read = { method: 'get' as const, mount: 'root' as const, tag: 'usage', permission: usePermission };

/** Tokens, money and time that runs have used. */
export const openUsage: OpenArea = async ({ database, runs }) => {
  const totals = await createUsageTotals(database);
  return (routes) => {
    routes.add(
      {
        ...read,
        path: '/runs/:id/usage',
        operationId: 'getRunUsage',
        summary: 'Read the usage of a run',
        params: z.object({ id: pathPart }),
        response: runUsage,
      },
      async ({ params }) => usageOf(requireFound(await runs.getWhole(params.id), 'Run')),
    );
    routes.add(
      {
        ...read,
        path: '/usage',
        operationId: 'getUsage',
        summary: 'Read the usage of all ended runs',
        response: aggregateUsage,
      },
      () => totals.read(),
    );
  };
};
