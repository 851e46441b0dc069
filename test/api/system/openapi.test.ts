import type { ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { type ApiApp, createApp } from '../../../api/app';
import { apiDescription, describeApi } from '../../../api/system/openapi/describe';
import type { WorkflowClients } from '../../../api/workflow-clients';
import { requestExamples } from '../../../contracts/request-examples';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { fullPath } from '../../../platform/http/routing/route-contract';
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
  const known = (['schemas', 'responses', 'examples'] as const).flatMap((kind) =>
    Object.keys(document.components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`),
  );
  const used = references(document);
  expect(used).toEqual(expect.arrayContaining(['#/components/schemas/Task', '#/components/schemas/Error']));
  expect(used.filter((reference) => !known.includes(reference))).toEqual([]);
  expect(known.filter((name) => !used.includes(name))).toEqual([]);
});

it.each([
  ['/api/digest/daily', ['application/json', 'text/markdown']],
  ['/api/digest/operations', ['application/json', 'text/markdown']],
  ['/api/summary/standup', ['application/json', 'text/markdown', 'text/plain']],
  ['/api/telemetry/export', ['application/json', 'text/csv']],
  ['/api/workspace-capabilities/manifest/export', ['application/json', 'application/yaml']],
  ['/api/config/team-roster/export', ['application/json', 'application/yaml']],
  [
    '/api/work-products/{id}/export',
    ['application/json', 'application/yaml', 'text/csv', 'text/html', 'text/markdown', 'text/plain', 'text/x-diff'],
  ],
])('names every media type of %s', (path, mediaTypes) => {
  const { 200: success } = document.paths[path]!.get!.responses as Record<string, { content?: object }>;
  expect(Object.keys(success?.content ?? {}).sort()).toEqual(mediaTypes);
});

it.each([
  ['GET', '/api/integrations/trackers/schema', 404],
  ['POST', '/api/scoring/evaluate', 404],
  ['POST', '/api/tasks/reorder', 404],
  ['POST', '/mcp', 406],
])('names the refusal of %s %s with %i', (method, path, status) => {
  const contract = app.routes.contracts.find((one) => fullPath(one) === path && one.method === method.toLowerCase())!;
  expect(describeApi([contract]).paths[path]![contract.method]!.responses).toHaveProperty([String(status)]);
});

it('is made once for all workspaces and the pages about it', () => {
  const { contracts } = app.routes;
  expect(apiDescription([...contracts])).toBe(apiDescription(contracts));
  expect(apiDescription(contracts).toString()).toBe(JSON.stringify(describeApi(contracts)));
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

  interface Content {
    schema: object;
    example?: unknown;
    examples?: Record<string, { $ref: string }>;
  }
  interface Exemplified {
    requestBody?: { content: Record<string, Content> };
    responses: Record<string, { content?: Record<string, Content> }>;
  }
  let whole: OpenApiDocument;
  let described: Map<string, Exemplified>;
  beforeAll(() => {
    whole = describeApi(each());
    const all = Object.values(whole.paths).flatMap((methods) => Object.values(methods));
    described = new Map(all.map((each) => [String(each.operationId), each as unknown as Exemplified]));
  });

  /** The examples of an operation, and the schema of its response. */
  function exampleOf(operationId: string) {
    const { requestBody, responses } = described.get(operationId)!;
    const [content] = Object.entries(responses).flatMap(([status, response]) =>
      Number(status) < 400 ? Object.values(response.content ?? {}) : [],
    );
    const [name] = Object.keys(content?.examples ?? {});
    return {
      requestBody: Object.values(requestBody?.content ?? {})[0]?.example,
      schema: content?.schema ?? {},
      response: name === undefined ? content?.example : whole.components.examples?.[name]?.value,
    };
  }

  it('has a sentence for each parameter', () => {
    const sentences = operations().flatMap(([name, { parameters }]) =>
      parameters.map(({ name: parameter, description = '' }) => [`${name} ${parameter}`, description]),
    );
    expect(sentences.filter(([, description]) => !/^[A-Z].*\.$/.test(description!))).toEqual([]);
  });

  it('takes the example of its body', () => {
    const refused = each().flatMap(({ operationId, body, upload }) => {
      if (!body || upload) {
        return [];
      }
      const example = exampleOf(operationId).requestBody;
      const issues = body.safeParse(example).error?.issues;
      return example !== undefined && !issues ? [] : [[operationId, example, issues]];
    });
    expect(refused).toEqual([]);
    const ids = each().map(({ operationId }) => operationId);
    expect(Object.keys(requestExamples).filter((operationId) => !ids.includes(operationId))).toEqual([]);
  });

  it('has an example of its response, which its schema describes', () => {
    const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
    ajv.addSchema({ $id: 'document', components: whole.components });
    const compiled = new Map<string, ValidateFunction>();
    const validatorOf = (schema: object): ValidateFunction => {
      const inDocument = JSON.stringify(schema).replaceAll('"#/', '"document#/');
      const known = compiled.get(inDocument) ?? ajv.compile(JSON.parse(inDocument) as object);
      compiled.set(inDocument, known);
      return known;
    };
    const wrong = each().flatMap(({ operationId, response }) => {
      if (response instanceof z.ZodUndefined) {
        return [];
      }
      const { schema, response: example } = exampleOf(operationId);
      const validate = validatorOf(schema);
      return example !== undefined && validate(example) ? [] : [[operationId, example, validate.errors]];
    });
    expect(wrong).toEqual([]);
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
