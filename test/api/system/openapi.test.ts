import { z } from 'zod';
import { type ApiApp, createApp } from '../../../api/app';
import type { WorkflowClients } from '../../../api/workflow-clients';
import { requestExamples } from '../../../contracts/examples';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { type ApiUnderTest, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
let app: ApiApp;
let document: OpenApiDocument;
beforeAll(async () => {
  board = await startTestApi();
  document = (await board.call('GET', '/api/openapi.json', { key: null })).body as OpenApiDocument;
  // Routes are declared without being called: what they would call is not needed.
  app = createApp(board.api.context, { connect: () => ({}) as WorkflowClients });
});
afterAll(() => board.close());

interface Operation {
  operationId: string;
  security: unknown[];
  parameters: { name: string; in: string; description?: string }[];
  responses: Record<string, unknown>;
}

const operations = (): [string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation as unknown as Operation,
    ]),
  );

const references = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, item]) => (key === '$ref' ? [String(item)] : references(item)));
};

it('describes exactly the routes that are registered', () => {
  const core = createApp(board.api.context);
  const registered = core.router.stack.flatMap(({ methods, path }) =>
    methods
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method} ${String(path).replace(/[:*](\w+)/g, '{$1}')}`),
  );
  expect(
    operations()
      .map(([operation]) => operation)
      .sort(),
  ).toEqual(registered.sort());
});

it('is an OpenAPI 3.1 document whose references resolve', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Runboard', version: expect.any(String) } });
  const known = (['schemas', 'responses'] as const).flatMap((kind) =>
    Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
  );
  const used = references(document);
  expect(used).toEqual(expect.arrayContaining(['#/components/schemas/Task', '#/components/schemas/Error']));
  expect(used.filter((reference) => !known.includes(reference))).toEqual([]);
  expect(known.filter((name) => !used.includes(name))).toEqual([]);
});

it('gives every operation an id of its own, its path parameters and its refusals', () => {
  const all = operations();
  expect(new Set(all.map(([, { operationId }]) => operationId)).size).toBe(all.length);
  for (const [name, { parameters, responses }] of all) {
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    expect(parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name)).toEqual(
      inPath,
    );
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '500']));
  }
});

it('distinguishes a task from the body that creates one', () => {
  const { Task, TaskCreate } = document.components.schemas;
  expect(Task).toMatchObject({ required: expect.arrayContaining(['id', 'title', 'status', 'revision']) });
  expect(TaskCreate).toMatchObject({ required: ['title'], additionalProperties: false });
});

describe('every route', () => {
  const each = () => app.routes.contracts;

  it('has a sentence for each parameter', () => {
    const sentences = operations().flatMap(([name, { parameters }]) =>
      parameters.map(({ name: parameter, description = '' }) => [`${name} ${parameter}`, description]),
    );
    expect(sentences.filter(([, description]) => !/^[A-Z].*\.$/.test(description!))).toEqual([]);
  });

  it('takes the example of its body', () => {
    for (const [operationId, example] of Object.entries(requestExamples)) {
      const body = each().find((contract) => contract.operationId === operationId)?.body;
      expect([operationId, body?.safeParse(example).error?.issues]).toEqual([operationId, undefined]);
      expect(body).toBeDefined();
    }
  });

  it('refuses unknown fields of its query and its body', () => {
    const loose = each().flatMap(({ query, body, operationId, mount, path }) => {
      // Probes take what load balancers add, and callbacks what providers add.
      const isOpen = mount === 'root' || ['/health', '/auth/oidc/callback', '/auth/oidc/signed-out'].includes(path);
      const schemas = [...(isOpen ? [] : [query]), body];
      return schemas.some((schema) => schema instanceof z.ZodObject && !(schema.def.catchall instanceof z.ZodNever))
        ? [operationId]
        : [];
    });
    expect(loose).toEqual([]);
  });
});
