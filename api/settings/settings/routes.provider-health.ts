import { providerHealthReport } from '../../../contracts/settings/agent-support';
import { providerHealthOf } from '../../../domain/provider-health';
import type { Routes } from '../../../platform/http/routing/routes';
import { readSupport, type SupportContext } from '../config/support-rows';

/** Whether the agents of each provider can be started: the sum of `GET /api/config/agent-support`. */
export function providerHealthRoutes(routes: Routes, context: SupportContext): void {
  routes.add(
    {
      method: 'get',
      path: '/settings/provider-health',
      operationId: 'getProviderHealth',
      summary: 'Read whether the agents of each provider can be started on the live hosts',
      tag: 'settings',
      permission: 'settings:read',
      response: providerHealthReport,
    },
    async () => {
      const { agents, rows } = await readSupport(context);
      return { generatedAt: context.now().toISOString(), providers: providerHealthOf(agents, rows) };
    },
  );
}
