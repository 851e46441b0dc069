import { watcherAnswer, watcherPolicy, watcherQuestion, watcherRisk } from '../../contracts/watcher-policy';
import type { Routes } from '../../platform/http/routes';
import type { ApiContext } from '../context';
import { decideContinuation } from './decide';

const tag = 'watcher-policies';
const outcomes = { allow: 'allowed', approval: 'approval-required', blocked: 'blocked' } as const;

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
      // Neither here nor in the trace is anything of the prompt.
      audit: ({ body: { runId, taskId, agent } }, { decision, mode, riskLevel, riskClasses }) => ({
        action: 'watcher-policy.evaluate',
        resource: runId,
        details: { decision, mode, riskLevel, riskClasses, ...(taskId && { taskId }), ...(agent && { agent }) },
      }),
    },
    async ({ body: { prompt, ...about } }) => {
      // Straight from the store: a kill switch holds at once, also in other processes.
      const { watcher } = (await settings.read()).features;
      const decided = decideContinuation(watcher, { prompt, ...about });
      const { decision, reasons, riskClasses, evidence } = decided;
      const traceId = await traces.record({
        kind: 'policy',
        outcome: outcomes[decision],
        title: `Going on with ${about.runId}: ${decision}`,
        summary: reasons.join(' '),
        subject: {
          actionType: 'run.continue',
          ...(about.agent && { agentId: about.agent }),
          ...(about.taskId && { taskId: about.taskId }),
        },
        raw: { ...about, watcher, riskClasses, evidence },
      });
      return { ...decided, auditLogged: true as const, evaluatedAt: new Date().toISOString(), traceId };
    },
  );
}
