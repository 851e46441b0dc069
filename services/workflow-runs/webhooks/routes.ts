import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { usePermission } from '../http/auth';
import { refuse } from '../http/errors';
import { requireFound } from '../http/fields';
import { pageFrom, pageOf, pageQuery } from '../http/pages';
import type { RunsContext } from '../runs/context';
import { webhookUsed } from '../runs/execution/messages';
import { runId } from '../runs/run';
import { readDelivery } from './delivered-body';

const shared = { mount: 'root' as const, tag: 'webhooks' };

const webhook = z
  .object({
    stage_id: z.string(),
    url: z.string().meta({ description: 'Every caller that has it may call it, once' }),
    expires_at: z.string().optional(),
  })
  .meta({ id: 'Webhook' });

/** The addresses that stages of runs wait to be called at, and the calls. */
export function webhookRoutes(routes: Routes, { runs, commands, webhookTokens, env }: RunsContext): void {
  routes.add(
    {
      ...shared,
      method: 'get',
      path: '/runs/:id/webhooks',
      operationId: 'listRunWebhooks',
      summary: 'List the webhooks that stages of a run wait for, with their URLs',
      permission: usePermission,
      params: z.strictObject({ id: runId }),
      query: pageQuery,
      response: pageOf(webhook),
    },
    async ({ params, query }, ctx) => {
      const { _id, webhooks = [] } = requireFound(await runs.get(params.id), 'Run');
      const base = env.WORKFLOW_RUNS_PUBLIC_URL ?? `http://${ctx.get('Host')}`;
      if (!URL.canParse(base)) {
        throw refuse(400, 'The Host header of the request is no address.');
      }
      ctx.set('Cache-Control', 'no-store');
      return pageFrom(
        webhooks.map(({ stage_id, expires_at }) => ({
          stage_id,
          url: new URL(`/webhooks/${webhookTokens.of({ runId: _id, stageId: stage_id })}`, base).href,
          ...compact({ expires_at }),
        })),
        query,
      );
    },
  );

  routes.add(
    {
      ...shared,
      method: 'post',
      path: '/webhooks/:token',
      operationId: 'callRunWebhook',
      summary:
        'Call the webhook of a stage, with its output as the body; once, and without other credentials than its URL',
      permission: 'public',
      params: z.strictObject({ token: z.string().max(1_000) }),
      rawBody: true,
      idempotency: 'none',
      response: z.object({ accepted: z.literal(true) }),
      status: 202,
      errors: [404, 409, 410, 413, 415, 429],
    },
    async ({ params }, ctx) => {
      const stage = webhookTokens.read(params.token);
      const run = stage && (await runs.get(stage.runId));
      if (!stage || !run) {
        throw refuse(404, 'Webhook not found.');
      }
      if (!run.webhooks?.some(({ stage_id }) => stage_id === stage.stageId)) {
        throw refuse(410, webhookUsed);
      }
      const delivered = await readDelivery(ctx);
      await commands.deliver(run._id, webhookUsed, { stageId: stage.stageId, ...delivered });
      return { accepted: true as const };
    },
  );
}
