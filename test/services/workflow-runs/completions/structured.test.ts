import { startWithModels, type WithModels } from '../models-under-test';

let under: WithModels;
beforeAll(async () => {
  under = await startWithModels();
});
afterAll(() => under.close());

const text = (data: string) => ({ kind: 'text', data });
const user = (data: string) => ({ role: 'user', content: [text(data)] });
const ask = (body: Record<string, unknown>) => under.service.call('POST', '/completions', { stream: false, ...body });
const tools = [{ name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } }];

describe('a completion with a schema', () => {
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  };

  it('answers with JSON, also when a stream is asked for', async () => {
    under.provider.answers(() => ['{"ok":', 'true}']);
    const { status, headers, body } = await under.service.call('POST', '/completions', {
      messages: [user('?')],
      schema,
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toMatchObject({ output: { ok: true }, message: { content: [text('{"ok":true}')] } });
    expect(under.provider.last().body.response_format).toMatchObject({ type: 'json_schema', json_schema: { schema } });
  });

  /** Has the model answer each of these in turn; returns how often it was asked. */
  const inTurn = (...answers: (string | { cutAtLimit: true })[][]) => {
    const before = under.provider.asked.length;
    under.provider.answers(() => answers[under.provider.asked.length - before - 1] ?? []);
    return () => under.provider.asked.length - before;
  };

  it.each([
    ['is no JSON', 'certainly!', 'it is not JSON'],
    ['lacks a field', '{}', "the value must have required property 'ok'"],
    ['has another type', '{"ok":"yes"}', '/ok must be boolean'],
    ['has a field too many', '{"ok":true,"why":1}', 'must NOT have additional properties: \\"why\\"'],
  ])('sends an answer back once that %s', async (_case, wrong, problem) => {
    const asked = inTurn([wrong], ['{"ok":true}']);
    expect(await ask({ messages: [user('?')], schema })).toMatchObject({
      status: 200,
      body: { output: { ok: true }, usage: { input_tokens: 2_000, output_tokens: 100 } },
    });
    expect(asked()).toBe(2);
    const sent = JSON.stringify(under.provider.last().body.messages);
    expect(sent).toContain(problem);
    expect(sent).toContain(JSON.stringify(wrong).slice(1, -1));
  });

  it('is a 502 with what is wrong when the second answer does not fit either', async () => {
    const asked = inTurn(['certainly!'], ['{"ok":0}'], ['{"ok":true}']);
    const detail = 'LLM error: the answer does not fit the schema, also when asked again: /ok must be boolean';
    expect(await ask({ messages: [user('?')], schema })).toMatchObject({
      status: 502,
      body: { errors: [{ status: '502', detail }] },
    });
    expect(asked()).toBe(2);
  });

  it('is a 502 that names the limit of tokens when that cuts the answer', async () => {
    const asked = inTurn(['{"ok":tr', { cutAtLimit: true }]);
    const { status, body } = await ask({ messages: [user('?')], schema });
    expect([status, body.errors[0].detail]).toEqual([502, expect.stringContaining('cut at the limit of tokens')]);
    expect(asked()).toBe(1);
  });

  it('leaves the output to the next request when the model calls tools', async () => {
    under.provider.answers(() => [{ tool: 'look', id: 'c1', input: { at: 'sky' } }]);
    const { status, body } = await ask({ messages: [user('?')], schema, tools });
    expect([status, body.stop_reason, 'output' in body]).toEqual([200, 'tool_calls', false]);
  });

  it.each<[string, object, string]>([
    ['no schema', { type: 'nothing' }, 'schema: schema is invalid'],
    ['a schema that is elsewhere', { $ref: 'http://127.0.0.1:1/x.json' }, "can't resolve reference"],
  ])('refuses %s before a model is asked', async (_case, wrong, detail) => {
    const asked = inTurn(['{}']);
    const { status, body } = await ask({ messages: [user('?')], schema: wrong });
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining(detail)]);
    expect(asked()).toBe(0);
  });

  it('goes by the dialect that the schema names', async () => {
    const tuple = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: [{ type: 'integer' }] };
    inTurn(['["a"]'], ['[1]']);
    expect((await ask({ messages: [user('?')], schema: tuple })).body.output).toEqual([1]);
  });

  it('gives up a check that takes for ever, and answers others', async () => {
    const endless = { type: 'string', pattern: '^(a+)+$' };
    inTurn([JSON.stringify(`${'a'.repeat(40)}!`)]);
    const slow = ask({ messages: [user('?')], schema: endless });
    const { status, body } = await slow;
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('took longer')]);
    inTurn(['{"ok":true}']);
    expect((await ask({ messages: [user('?')], schema })).status).toBe(200);
  }, 20_000);
});
