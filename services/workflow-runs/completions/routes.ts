import { randomUUID } from 'node:crypto';
import type { ModelRequest } from '../../../platform/models/request';
import type { OpenArea, WorkflowRunsContext } from '../context';
import { usePermission } from '../http/auth';
import { callerLeft } from '../http/caller-left';
import { refusalOf } from '../models/refusal';
import { type Completion, completion, completionOf, completionRequest, dryCompletion } from './completion';
import { streamCompletion, streamNothing } from './stream';
import { completeStructured } from './structured';

/** One answer of a model to a conversation that its caller stores. */
export const openCompletions: OpenArea =
  async ({ models, schemas, env, ending }) =>
  (routes) => {
    routes.add(
      {
        method: 'post',
        path: '/completions',
        mount: 'root',
        operationId: 'createCompletion',
        // An answer that is streamed is stored nowhere.
        idempotency: 'none',
        summary: 'Complete a prompt with a model, as events or one JSON document',
        tag: 'completions',
        permission: usePermission,
        body: completionRequest,
        response: completion,
        errors: [404, 429, 502],
      },
      async ({ body: { stream, ...request } }, ctx) => {
        const signal = AbortSignal.any([callerLeft(ctx), ending]);
        const id = `msg_${randomUUID().replaceAll('-', '')}`;
        const streamed = stream && request.schema === undefined;
        try {
          const model = models.choose(request);
          if (models.isDry(model)) {
            if (request.schema) {
              await schemas.assertSchema(request.schema);
            }
            return streamed ? streamNothing(id, model.id) : dryCompletion(id, model.id);
          }
          return streamed
            ? await streamCompletion({
                models,
                request,
                id,
                model: model.id,
                signal,
                pingMs: env.WORKFLOW_RUNS_PING_MS,
              })
            : await complete({ models, schemas }, request, { id, signal });
        } catch (error) {
          throw refusalOf(error);
        }
      },
    );
  };

async function complete(
  { models, schemas }: Pick<WorkflowRunsContext, 'models' | 'schemas'>,
  { schema, ...request }: ModelRequest,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<Completion> {
  if (schema === undefined) {
    return completionOf(id, await models.complete(request, { signal }));
  }
  const { answer, ...output } = await completeStructured({ models, schemas }, { ...request, schema }, { signal });
  return { ...completionOf(id, answer), ...output };
}
