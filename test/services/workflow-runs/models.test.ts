import { eventually } from '../../../platform/testing/eventually';
import { key, startWithModels, type WithModels } from './models-under-test';
import { type Reply, startServiceUnderTest } from './service-under-test';

let under: WithModels;
beforeAll(async () => {
  under = await startWithModels({ WORKFLOW_RUNS_MODEL_TEST_MS: '2000' });
});
afterAll(() => under.close());
beforeEach(() => under.provider.answers(() => ['OK']));

const call = (method: string, path: string, body?: unknown, token?: string | null) =>
  under.service.call(method, path, body, token);

it('lists the catalog page by page', async () => {
  const first = await call('GET', '/models?page[limit]=1');
  expect(first).toMatchObject({
    status: 200,
    body: {
      data: [
        {
          id: 'small',
          provider: 'local',
          features: { tools: true, vision: true, reasoning: false },
          aliases: ['quick'],
          default: true,
        },
      ],
      meta: { has_more: true },
    },
  });
  expect(first.headers.get('link')).toBe('</models?page%5Blimit%5D=1&page%5Boffset%5D=1>; rel="next"');
  const rest = await call('GET', '/models?page[offset]=1');
  expect(rest.headers.get('link')).toBeNull();
  expect(rest.body.data.map(({ id }: { id: string }) => id)).toEqual(['org/claude', 'tiny', 'keyless', 'nowhere']);
  expect(rest.body.data[0]).not.toHaveProperty('upstream_id');
  expect((await call('GET', '/models', undefined, null)).status).toBe(401);
});

it('is read to its end by following Link, as every list of the service is', async () => {
  const ids: string[] = [];
  for (let at: string | undefined = '/models?page[limit]=1'; at !== undefined;) {
    const page: Reply = await call('GET', at);
    ids.push(...page.body.data.map(({ id }: { id: string }) => id));
    at = /<(.*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  expect(ids).toEqual(['small', 'org/claude', 'tiny', 'keyless', 'nowhere']);
  const { paths } = (await call('GET', '/openapi.json')).body;
  const operations: any[] = Object.values(paths).map((path: any) => path.get); // eslint-disable-line @typescript-eslint/no-explicit-any -- the document is JSON
  const lists = operations.filter(
    (get) => get?.responses['200'].content?.['application/json']?.schema.properties?.meta,
  );
  expect(lists.length).toBeGreaterThanOrEqual(13);
  for (const { operationId, parameters, responses } of lists) {
    expect([operationId, Object.keys(responses['200'].headers ?? {})]).toEqual([operationId, ['Link']]);
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['page[offset]']));
  }
});

it('finds a model by its id or an alias', async () => {
  expect((await call('GET', '/models/quick')).body).toMatchObject({ id: 'small' });
  expect((await call('GET', '/models/org%2Fclaude')).body).toMatchObject({ id: 'org/claude' });
  expect(await call('GET', '/models/none')).toMatchObject({
    status: 404,
    body: { errors: [{ detail: 'Model not found: none' }] },
  });
});

describe('the test of a model', () => {
  it.each([
    ['small', 'local', '/v1/chat/completions', { model: 'small', max_tokens: 16 }, { authorization: `Bearer ${key}` }],
    ['org%2Fclaude', 'anthropic', '/v1/messages', { model: 'claude-sonnet-4-5', max_tokens: 16 }, { 'x-api-key': key }],
  ])('sends %s of %s a minimal prompt', async (id, _provider, path, body, headers) => {
    expect(await call('POST', `/models/${id}/test`)).toMatchObject({
      status: 200,
      body: { model_id: decodeURIComponent(id), status: 'ok' },
    });
    expect(under.provider.last()).toMatchObject({ path, body, headers });
  });

  it.each([
    [401, { error: { message: `Incorrect API key provided: ${key}`, type: 'invalid_request_error' } }, 'answered 401'],
    [429, { error: { message: 'Slow down', type: 'rate_limit' } }, 'local: answered 429: Slow down'],
    [500, 'nonsense', 'local: answered 500'],
  ])('reports that the provider answered %i, without the key', async (status, body, message) => {
    const before = under.provider.asked.length;
    under.provider.answers(() => ({ status, body }));
    const { body: tested } = await call('POST', '/models/small/test');
    expect(tested).toEqual({ model_id: 'small', status: 'error', error_message: expect.stringContaining(message) });
    expect(tested.error_message).not.toContain(key);
    // A test of a model must be a fresh one.
    expect(under.provider.asked).toHaveLength(before + 1);
  });

  it('reports a timeout, and aborts the call', async () => {
    under.provider.answers(async function* () {
      yield 'O';
      await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
    });
    expect((await call('POST', '/models/small/test')).body).toEqual({
      model_id: 'small',
      status: 'error',
      error_message: 'timeout (2s)',
    });
    await eventually(async () => expect(under.provider.last().left).toBe(true));
  });

  it('does not follow its provider elsewhere, with the key', async () => {
    const before = under.provider.asked.length;
    const headers = { location: `${under.provider.url}/elsewhere` };
    under.provider.answers(() => ({ status: 307, body: {}, headers }));
    expect((await call('POST', '/models/small/test')).body).toMatchObject({ status: 'error' });
    expect(under.provider.asked).toHaveLength(before + 1);
  });

  it('names the variable of a key that is not set', async () => {
    const before = under.provider.asked.length;
    expect((await call('POST', '/models/keyless/test')).body).toMatchObject({
      status: 'error',
      error_message: 'keyless: the environment variable TEST_NO_SUCH_KEY with its key is not set',
    });
    expect(under.provider.asked).toHaveLength(before);
  });

  it('reports that nothing listens there', async () => {
    expect((await call('POST', '/models/nowhere/test')).body).toMatchObject({
      status: 'error',
      error_message: expect.stringMatching(/^nowhere: .*ECONNREFUSED/),
    });
  });

  it('is refused with a body that has fields', async () => {
    const before = under.provider.asked.length;
    expect(await call('POST', '/models/small/test', { prompt: 'Hi' })).toMatchObject({
      status: 422,
      body: { errors: [{ detail: 'prompt: unknown field' }] },
    });
    expect((await call('POST', '/models/small/test', {})).status).toBe(200);
    expect(under.provider.asked).toHaveLength(before + 1);
  });

  it('is refused for a model that is not in the catalog', async () => {
    expect(await call('POST', '/models/none/test')).toMatchObject({
      status: 404,
      body: { errors: [{ status: '404', title: 'Not Found', detail: 'Model not found: none' }] },
    });
  });
});

it('pretends without a catalog, and calls no provider in a dry run', async () => {
  const bare = await startServiceUnderTest();
  const dry = await startWithModels({ WORKFLOW_RUNS_DRY_RUN: 'true' });
  try {
    expect((await bare.call('GET', '/models')).body.data).toMatchObject([{ id: 'dry-run', default: true }]);
    expect((await bare.call('POST', '/models/dry-run/test')).body).toEqual({ model_id: 'dry-run', status: 'ok' });
    expect((await dry.service.call('POST', '/models/keyless/test')).body).toEqual({
      model_id: 'keyless',
      status: 'ok',
    });
    expect((await dry.service.call('POST', '/models/none/test')).status).toBe(404);
    expect(dry.provider.asked).toEqual([]);
  } finally {
    await bare.close();
    await dry.close();
  }
});

it('does not start with a catalog that cannot be used', async () => {
  await expect(startServiceUnderTest({ WORKFLOW_RUNS_MODELS: '/no/such/file.json' })).rejects.toThrow(
    /catalog of models \(\/no\/such\/file\.json\) cannot be used/,
  );
});
