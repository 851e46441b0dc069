import {
  runContinuationList,
  runContinuationQuery,
} from '../../../contracts/governance/watcher-policies/run-continuation';
import {
  watcherPolicy,
  watcherQuestion,
  watcherResponse,
  watcherRisk,
} from '../../../contracts/governance/watcher-policy';
import type { Routes } from '../../../platform/http/routing/routes';
import { auditOf, decideAndTrace } from '../../../stores/governance/watcher-decision';
import type { ApiContext } from '../../context';

const tag = 'watcher-policies';

/** Whether runs may continue by themselves (specification 2, Policies and governance). */
export function watcherPolicyRoutes(
  routes: Routes,
  { settings, traces, runContinuations }: Pick<ApiContext, 'settings' | 'traces' | 'runContinuations'>,
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
      method: 'get',
      path: '/watcher-policies/continuations',
      operationId: 'listRunContinuations',
      summary: 'List continuations of runs by the watcher, newest first',
      tag,
      permission: 'policy:read',
      query: runContinuationQuery,
      response: runContinuationList,
    },
    async ({ query }) => {
      const page = await runContinuations.list(query);
      return page.answer({ continuations: page.items });
    },
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
