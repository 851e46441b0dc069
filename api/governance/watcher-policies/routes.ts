import {
  watcherPolicy,
  watcherQuestion,
  watcherResponse,
  watcherRisk,
} from '../../../contracts/governance/watcher-policy';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { auditOf, decideAndTrace } from './trace';

const tag = 'watcher-policies';

/** Whether runs may continue by themselves (specification 2, Policies and governance). */
export function watcherPolicyRoutes(
  routes: Routes,
  { settings, traces }: Pick<ApiContext, 'settings' | 'traces'>,
): void {
  routes.add(
    {
      method: 'get',
      path: '/watcher-policies',
      operationId: 'getWatcherPolicy',
      summary: 'Read the watcher continuation policy',
      tag,
      permission: 'policy:read',
      response: watcherPolicy,
    },
    async () => ({ ...(await settings.read()).features.watcher, riskClasses: watcherRisk.options }),
  );

  routes.add(
    {
      method: 'post',
      path: '/watcher-policies/evaluate',
      operationId: 'evaluateWatcherPolicy',
      summary: 'Evaluate whether a watcher may continue a run',
      tag,
      permission: 'agent:read',
      body: watcherQuestion,
      response: watcherResponse,
      audit: ({ body }, answer) => auditOf(body, answer),
    },
    async ({ body }) => {
      // Straight from the store: a kill switch applies at once, also in other processes.
      const { watcher } = (await settings.read()).features;
      const decided = await decideAndTrace(traces, watcher, body);
      return { ...decided, auditLogged: true as const, evaluatedAt: new Date().toISOString() };
    },
  );
}
