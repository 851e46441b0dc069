import { parseCatalog } from '../../../platform/models/catalog';
import { ModelError } from '../../../platform/models/errors';
import { type CallOptions, createModels, type Models } from '../../../platform/models/models';
import { aProvider, type Provider, type Reply } from '../../support/models/provider';
import { catalogOf } from './models-under-test';

let provider: Provider;
let models: Models;
beforeAll(async () => {
  provider = await aProvider();
  const catalog = parseCatalog(JSON.stringify(catalogOf(provider.url)));
  models = createModels({
    catalog,
    keyOf: (name) => (name === 'TEST_NO_SUCH_KEY' ? undefined : 'the-key'),
    dryRun: false,
  });
});
afterAll(() => provider.close());

const ask = (model: string, options?: CallOptions) =>
  models.complete({ model, messages: [{ role: 'user', content: [{ kind: 'text', data: 'Hi' }] }] }, options);
const failure = async (model: string, options?: CallOptions): Promise<ModelError> => {
  const error: unknown = await ask(model, options).catch((thrown: unknown) => thrown);
  if (!(error instanceof ModelError)) {
    throw new Error(`It ended with ${String(error)}`);
  }
  return error;
};
const forever = async function* () {
  yield 'a';
  await new Promise((resolve) => setTimeout(resolve, 5_000).unref());
};

it('streams the text as it comes, and reports its cost at the prices of the catalog', async () => {
  provider.answers(() => ['Hel', 'lo']);
  const reported: string[] = [];
  // 600 tokens at 10, 400 from the cache at 1, 50 of output at 20 USD per million.
  expect(await ask('quick', { onText: (delta) => reported.push(delta) })).toEqual({
    text: 'Hello',
    thinking: [],
    toolCalls: [],
    stopReason: 'end_turn',
    usage: { input_tokens: 1_000, output_tokens: 50, cache_read_tokens: 400, cost: 0.0074 },
    model: 'small',
  });
  expect(reported).toEqual(['Hel', 'lo']);
});

it('knows no cost of tokens without prices', async () => {
  provider.answers(() => ['Hello']);
  const { usage } = await ask('org/claude');
  expect(usage).toEqual({ input_tokens: 1_000, output_tokens: 50, cache_read_tokens: 400, cost: null });
});

const failing: [string, Reply, Partial<ModelError>][] = [
  ['a bad request', { status: 400, body: {} }, { kind: 'refused', retryable: false, status: 400 }],
  ['a wrong key', { status: 401, body: {} }, { kind: 'refused', retryable: false, status: 401 }],
  ['a rate limit', { status: 429, body: {} }, { kind: 'unavailable', retryable: true, status: 429 }],
  ['a failing provider', { status: 500, body: {} }, { kind: 'unavailable', retryable: true, status: 500 }],
  ['an overload', { status: 529, body: {} }, { kind: 'unavailable', retryable: true, status: 529 }],
  [
    'an overload in the middle',
    ['a', { error: { type: 'overloaded_error', message: 'Busy' } }],
    { kind: 'unavailable', retryable: true },
  ],
  [
    'a refusal in the middle',
    ['a', { error: { type: 'invalid_request_error', message: 'No' } }],
    { kind: 'refused', retryable: false },
  ],
];
describe.each(['small', 'org/claude'])('whether trying again may help %s', (model) => {
  it.each(failing)('after %s', async (_case, reply, expected) => {
    provider.answers(() => reply);
    expect(await failure(model)).toMatchObject(expected);
  });

  it('after it took too long, and after it was called off', async () => {
    provider.answers(forever);
    expect(await failure(model, { timeoutMs: 100 })).toMatchObject({ kind: 'timeout', retryable: true });
    const signal = AbortSignal.timeout(50);
    expect(await failure(model, { signal })).toMatchObject({ kind: 'aborted', retryable: false });
  });
});

it('distinguishes what cannot be reached, has no key, and is not there', async () => {
  expect(await failure('nowhere')).toMatchObject({ kind: 'unavailable', retryable: true });
  expect(await failure('keyless')).toMatchObject({ kind: 'refused', retryable: false });
  expect(await failure('none')).toMatchObject({ kind: 'unknown', retryable: false });
});

it('reports how long its provider asks to wait', async () => {
  const limited = (value: string): Reply => ({ status: 429, body: {}, headers: { 'retry-after': value } });
  for (const model of ['small', 'org/claude']) {
    provider.answers(() => limited('7'));
    expect(await failure(model)).toMatchObject({ kind: 'unavailable', retryAfterMs: 7_000 });
  }
  provider.answers(() => limited(new Date(Date.now() + 60_000).toUTCString()));
  const { retryAfterMs = 0 } = await failure('small');
  expect(retryAfterMs).toBeGreaterThan(50_000);
  provider.answers(() => limited('soon'));
  expect(await failure('small')).toMatchObject({ retryable: true, retryAfterMs: undefined });
  provider.answers(() => ({ status: 400, body: {}, headers: { 'retry-after': '7' } }));
  expect(await failure('small')).toMatchObject({ retryable: false, retryAfterMs: undefined });
});
