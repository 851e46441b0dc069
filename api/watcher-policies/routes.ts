import { watcherAnswer, watcherPolicy, watcherQuestion, watcherRisk } from '../../contracts/watcher-policy';
import type { Routes } from '../../platform/http/routes';
import type { ApiContext } from '../context';
import { auditOf, decideAndTrace } from './trace';

const tag = 'watcher-policies';

/** Whether runs may go on by themselves (specification 2, Policies and governance). */
export function watcherPolicyRoutes(
  routes: Routes,
  { settings, traces }: Pick<ApiContext, 'settings' | 'traces'>,
): void {
  routes.add(
    {
      method: 'get',
      path: '/watcher-policies',
      operationId: 'getWatcherPolicy',
      summary: 'Read by what is decided whether a run may go on by itself',
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
      summary: 'Decide whether a run may go on by itself',
      tag,
      permission: 'agent:read',
      body: watcherQuestion,
      response: watcherAnswer,
      audit: ({ body }, answer) => auditOf(body, answer),
    },
    async ({ body }) => {
      // Straight from the store: a kill switch holds at once, also in other processes.
      const { watcher } = (await settings.read()).features;
      const decided = await decideAndTrace(traces, watcher, body);
      return { ...decided, auditLogged: true as const, evaluatedAt: new Date().toISOString() };
    },
  );
}
