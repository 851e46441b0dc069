import { listen } from '../../../platform/http/server/server';
import { parseCatalog } from '../../../platform/models/catalog';
import { ModelError } from '../../../platform/models/errors';
import { createModels, type Models } from '../../../platform/models/models';
import type { ModelRequest } from '../../../platform/models/request';

interface Response {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as it is; an object as JSON, a list as server-sent events. */
  body: string | object;
}

let respond: (body: any) => Response; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into requests
let asked: any[] = []; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into requests
let server: Awaited<ReturnType<typeof listen>>;
let models: Models;
beforeAll(async () => {
  server = await listen(
    async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
      asked.push(body);
      const { status = 200, headers, body: sent } = respond(body);
      const isStream = Array.isArray(sent);
      const type = isStream ? 'text/event-stream' : 'application/json';
      const text = isStream
        ? sent.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('')
        : JSON.stringify(sent);
      response.writeHead(status, { 'content-type': type, ...headers }).end(typeof sent === 'string' ? sent : text);
    },
    { host: '127.0.0.1', port: 0 },
  );
  const model = (id: string, more: object = {}) => ({
    ...{ id, provider: id, family: 'test', display_name: id, limits: { context_window: 10_000 } },
    ...{ features: { tools: true }, ...more },
  });
  const provider = (name: string, more: object = {}) => ({
    ...{ name, kind: 'openai-compatible', base_url: `${server.url}/v1`, ...more },
  });
  const prices = { costs: { input_cost_per_mtok: 1, output_cost_per_mtok: 2 } };
  const catalog = {
    providers: [
      ...[provider('streams'), provider('whole', { stream: false }), provider('half')],
      provider('official', { kind: 'openai', api_key_env: 'KEY' }),
    ],
    models: [
      model('streams', prices),
      model('whole', prices),
      model('official', { ...prices, upstream_id: 'gpt-5' }),
      model('half', { costs: { input_cost_per_mtok: 1 } }),
    ],
  };
  models = createModels({
    catalog: parseCatalog(JSON.stringify(catalog)),
    keyOf: () => 'a-key-of-tests',
    dryRun: false,
  });
});
afterAll(() => server.close(0));
beforeEach(() => {
  asked = [];
});

const tools = [{ name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } }];
const ask = (model: string, more: Partial<ModelRequest> = {}, onText?: (delta: string) => void) =>
  models.complete(
    { model, messages: [{ role: 'user', content: [{ kind: 'text', data: 'Hi' }] }], ...more },
    onText ? { onText } : {},
  );
const failure = async (model = 'streams'): Promise<ModelError> => {
  const error: unknown = await ask(model).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
};

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const whole = (message: object, finish_reason: string, usage?: object) => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', ...(usage && { usage }) },
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
});
const usage = {
  ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
  ...{ prompt_tokens_details: { cached_tokens: 40 }, completion_tokens_details: { reasoning_tokens: 30 } },
};
const counted = { input_tokens: 100, output_tokens: 50, cache_read_tokens: 40, reasoning_tokens: 30 };

describe('a server that speaks the protocol of OpenAI', () => {
  it('streams an answer, with its tokens of reasoning and of the cache', async () => {
    respond = () => ({
      body: [
        chunk({ role: 'assistant', content: 'Hel' }),
        chunk({ content: 'lo' }),
        chunk({}, 'stop', { usage }),
        '[DONE]',
      ],
    });
    const pieces: string[] = [];
    expect(await ask('streams', {}, (delta) => pieces.push(delta))).toMatchObject({
      ...{ text: 'Hello', stopReason: 'end_turn', usage: { ...counted, cost: 0.0002 } },
    });
    expect(pieces).toEqual(['Hel', 'lo']);
    expect(asked[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('cannot stream, and answers at once', async () => {
    respond = () => ({ body: whole({ content: 'Hello' }, 'stop', usage) });
    const pieces: string[] = [];
    expect(await ask('whole', {}, (delta) => pieces.push(delta))).toMatchObject({
      ...{ text: 'Hello', stopReason: 'end_turn', usage: { ...counted, cost: 0.0002 } },
    });
    expect(pieces).toEqual(['Hello']);
    expect(asked[0].stream).not.toBe(true);
  });

  it('calls tools, in pieces and at once', async () => {
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at"' } };
    const rest = { index: 0, function: { arguments: ':"x"}' } };
    const made = [{ id: 'c1', name: 'look', arguments: { at: 'x' } }];
    respond = () => ({
      body: [chunk({ tool_calls: [call] }), chunk({ tool_calls: [rest] }), chunk({}, 'tool_calls'), '[DONE]'],
    });
    expect(await ask('streams', { tools })).toMatchObject({ text: '', toolCalls: made, stopReason: 'tool_calls' });
    respond = () => ({
      body: whole(
        { content: null, tool_calls: [{ ...call, function: { name: 'look', arguments: '{"at":"x"}' } }] },
        'tool_calls',
      ),
    });
    expect(await ask('whole', { tools })).toMatchObject({ text: '', toolCalls: made, stopReason: 'tool_calls' });
  });

  it('may report no usage, or end without [DONE] and an id', async () => {
    respond = () => ({
      body: [
        { choices: [{ index: 0, delta: { content: 'Hi' } }] },
        { choices: [{ delta: {}, finish_reason: 'stop' }] },
      ],
    });
    expect(await ask('streams')).toMatchObject({
      ...{ text: 'Hi', usage: { input_tokens: 0, output_tokens: 0, cost: 0 } },
    });
  });

  it('costs what is not known where one of the prices is missing', async () => {
    respond = () => ({ body: [chunk({ content: 'Hi' }), chunk({}, 'stop', { usage }), '[DONE]'] });
    expect((await ask('half')).usage).toEqual({ ...counted, cost: null });
  });

  it.each<[string, Response, Partial<ModelError>]>([
    [
      'the error of OpenAI',
      { status: 404, body: { error: { message: 'No such model', type: 'invalid_request_error' } } },
      { kind: 'refused', message: 'streams: answered 404: No such model' },
    ],
    [
      'an error of another shape',
      { status: 422, body: { detail: [{ msg: 'wrong' }] } },
      { kind: 'refused', message: 'streams: answered 422: Unprocessable Entity' },
    ],
    [
      'an error that is no JSON',
      { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' },
      { kind: 'unavailable', message: 'streams: answered 502: Bad Gateway' },
    ],
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '3' }, body: { error: { message: 'Slow down' } } },
      { kind: 'unavailable', message: 'streams: answered 429: Slow down', retryAfterMs: 3_000 },
    ],
    [
      'an error in the stream',
      { body: [chunk({ content: 'H' }), { error: { message: 'Out of memory', type: 'server_error' } }] },
      { kind: 'unavailable', message: expect.stringContaining('Out of memory') },
    ],
    [
      'a stream that is none',
      { headers: { 'content-type': 'text/event-stream' }, body: 'data: {"choices": \n\n' },
      { kind: 'unavailable' },
    ],
  ])('reports %s', async (_case, response, expected) => {
    respond = () => response;
    expect(await failure()).toMatchObject(expected);
  });

  it('reports an answer that is no JSON', async () => {
    respond = () => ({ body: 'Hello' });
    expect(await failure('whole')).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/^whole: /) });
  });
});

describe('OpenAI', () => {
  it('is asked as its models of reasoning demand it, and streams with tools and usage', async () => {
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } };
    respond = () => ({
      body: [
        chunk({ role: 'assistant', content: 'I look.' }),
        chunk({ tool_calls: [call] }),
        chunk({}, 'tool_calls', { usage }),
        '[DONE]',
      ],
    });
    const more = {
      system: 'Be brief',
      tools,
      max_tokens: 16,
      reasoning_effort: 'low',
      provider_options: { official: { user: 'me' } },
    };
    expect(await ask('official', more)).toMatchObject({
      ...{ text: 'I look.', toolCalls: [{ id: 'c1', name: 'look', arguments: { at: 'x' } }] },
      ...{ stopReason: 'tool_calls', usage: { ...counted, cost: 0.0002 } },
    });
    expect(asked[0]).toMatchObject({
      ...{ model: 'gpt-5', stream: true, max_completion_tokens: 16, reasoning_effort: 'low', user: 'me' },
      messages: [{ role: 'developer', content: 'Be brief' }, { role: 'user' }],
    });
    expect(asked[0]).not.toHaveProperty('max_tokens');
  });

  it('has its refusals and waits reported', async () => {
    respond = () => ({
      status: 429,
      headers: { 'retry-after': '9' },
      body: { error: { message: 'Slow', type: 'rate_limit', param: null, code: null } },
    });
    expect(await failure('official')).toMatchObject({ kind: 'unavailable', retryAfterMs: 9_000 });
    respond = () => ({
      status: 401,
      body: { error: { message: 'Bad key a-key-of-tests', type: 'x', param: null, code: null } },
    });
    const refused = await failure('official');
    expect(refused).toMatchObject({ kind: 'refused', status: 401 });
    expect(refused.message).not.toContain('a-key-of-tests');
  });
});
