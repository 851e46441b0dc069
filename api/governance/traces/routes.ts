import { z } from 'zod';
import { governanceTrace, governanceTraceQuery, governanceTraceWithRaw } from '../../../contracts/governance/trace';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';

const tag = 'governance';

/** Why decisions came out as they did. */
export function governanceRoutes(routes: Routes, { traces }: Pick<ApiContext, 'traces'>): void {
  routes.add(
    {
      method: 'get',
      path: '/governance/traces',
      operationId: 'listGovernanceTraces',
      summary: 'List governance traces, newest first',
      tag,
      permission: 'policy:read',
      query: governanceTraceQuery,
      response: z.array(governanceTrace),
    },
    ({ query }) => traces.list(query),
  );

  routes.add(
    {
      method: 'get',
      path: '/governance/traces/:id',
      operationId: 'getGovernanceTrace',
      summary: 'Read a governance trace with the rules it evaluated',
      tag,
      permission: 'policy:read',
      params: z.strictObject({ id: z.string().regex(/^trace_[0-9a-f]{24}$/) }),
      response: governanceTraceWithRaw,
    },
    async ({ params }) => {
      const trace = await traces.get(params.id);
      assertFound(trace, 'trace', params.id);
      return trace;
    },
  );
}
