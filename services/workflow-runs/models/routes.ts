import { z } from 'zod';
import { ModelError } from '../../../platform/models/errors';
import { type Model, model, modelName, type ModelTest, modelTest } from '../../../platform/models/model';
import type { Models } from '../../../platform/models/models';
import type { OpenArea } from '../context';
import { usePermission } from '../http/auth';
import { callerLeft } from '../http/caller-left';
import { refuse } from '../http/errors';
import { pageFrom, pageOf, pageQuery } from '../http/pages';

const shared = { mount: 'root', tag: 'models', permission: usePermission } as const;
const params = z.object({ id: modelName });

/** The smallest prompt that shows that a model works. */
const testPrompt = {
  messages: [{ role: 'user' as const, content: [{ kind: 'text' as const, data: 'Say OK.' }] }],
  max_tokens: 16,
};

/** The catalog of models, and whether they can be reached. */
export const openModelCatalog: OpenArea = async ({ models, env }) => {
  const requireModel = (id: string): Model => {
    const existing = models.find(id);
    if (!existing) {
      throw refuse(404, `Model not found: ${id}`);
    }
    return existing;
  };

  return (routes) => {
    routes.add(
      {
        ...shared,
        method: 'get',
        path: '/models',
        operationId: 'listModels',
        summary: 'List models',
        query: pageQuery,
        response: pageOf(model),
      },
      async ({ query }) => pageFrom(models.list(), query),
    );
    routes.add(
      {
        ...shared,
        method: 'get',
        path: '/models/:id',
        operationId: 'getModel',
        summary: 'Read a model by its id or an alias',
        params,
        response: model,
        errors: [404],
      },
      async ({ params: { id } }) => requireModel(id),
    );
    routes.add(
      {
        ...shared,
        method: 'post',
        path: '/models/:id/test',
        operationId: 'testModel',
        summary: 'Test a model with a minimal prompt',
        params,
        body: z.strictObject({}),
        response: modelTest,
        errors: [404],
      },
      async ({ params: { id } }, ctx) =>
        test(models, requireModel(id), { timeoutMs: env.WORKFLOW_RUNS_MODEL_TEST_MS, signal: callerLeft(ctx) }),
    );
  };
};

async function test(
  models: Models,
  { id }: Model,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<ModelTest> {
  try {
    await models.complete({ ...testPrompt, model: id }, options);
    return { model_id: id, status: 'ok' };
  } catch (error) {
    if (!(error instanceof ModelError)) {
      throw error;
    }
    return { model_id: id, status: 'error', error_message: error.message };
  }
}
