import { eventually } from '../../../../platform/testing/eventually';
import { aGate, cut } from '../../../support/models/provider';
import { eventsOf, readEvents } from '../events';
import { key, startWithModels, type WithModels } from '../models-under-test';
import { startServiceUnderTest } from '../service-under-test';

let under: WithModels;
beforeAll(async () => {
  under = await startWithModels({ WORKFLOW_RUNS_PING_MS: '150' });
});
afterAll(() => under.close());
beforeEach(() => under.provider.answers(() => ['Hel', 'lo']));

const text = (data: string) => ({ kind: 'text', data });
const user = (data: string) => ({ role: 'user', content: [text(data)] });
const ask = (body: Record<string, unknown>) => under.service.call('POST', '/completions', { stream: false, ...body });
const stream = (body: Record<string, unknown>, signal?: AbortSignal) =>
  under.service.open('POST', '/completions', { body, ...(signal && { signal }) });
const image = { kind: 'image', data: { data: Buffer.from('pixels').toString('base64') } };
const calls = [{ kind: 'tool_call', data: { id: 'c1', name: 'look', arguments: { at: 'sky' } } }];
const tools = [
  { name: 'look', description: 'Looks', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
];

describe('as one JSON document', () => {
  it('answers with the message and what it took', async () => {
    expect(await ask({ messages: [user('Hi')] })).toMatchObject({
      status: 200,
      body: {
        id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
        model: 'small',
        message: { role: 'assistant', content: [text('Hello')] },
        stop_reason: 'end_turn',
        usage: { input_tokens: 1_000, output_tokens: 50 },
      },
    });
  });

  it.each(['small', 'org/claude'])('hands %s the whole request', async (model) => {
    await ask({
      model,
      system: 'Be brief.',
      messages: [user('Hi'), { role: 'assistant', content: [text('Ho')] }, user('Well?')],
      max_tokens: 99,
      stop_sequences: ['END'],
      temperature: 0.5,
      tools,
      tool_choice: { mode: 'named', tool_name: 'look' },
    });
    const { body } = under.provider.last();
    const sent = JSON.stringify(body.messages);
    expect(sent).toMatch(/Hi.*Ho.*Well\?/);
    expect(JSON.stringify([body.system ?? body.messages[0]])).toContain('Be brief.');
    expect(body).toMatchObject({ max_tokens: 99, temperature: 0.5, stream: true });
    expect(body.stop ?? body.stop_sequences).toEqual(['END']);
    expect(JSON.stringify(body.tools)).toContain('"look"');
    expect(JSON.stringify(body.tool_choice)).toContain('"look"');
  });

  it.each(['small', 'org/claude'])('takes images, and a tool’s call and result, to %s', async (model) => {
    const messages = [
      { role: 'user', content: [text('What is this?'), image] },
      { role: 'assistant', content: calls },
      { role: 'tool', content: [{ kind: 'tool_result', data: { tool_call_id: 'c1', content: { seen: 'stars' } } }] },
    ];
    expect((await ask({ model, messages, tools })).status).toBe(200);
    const sent = JSON.stringify(under.provider.last().body.messages);
    expect(sent).toContain(image.data.data);
    expect(sent).toContain('stars');
    expect(sent).toContain('sky');
    // Other ways to bring them: arguments as the text of their JSON, a result as a text beside the id of its call.
    const asText = [{ kind: 'tool_call', data: { ...calls[0]!.data, arguments: '{"at":"sea"}' } }];
    await ask({ model, messages: [messages[0], { role: 'assistant', content: asText }, messages[2]], tools });
    expect(JSON.stringify(under.provider.last().body.messages)).toMatch(/\{\\?"at\\?":\\?"sea\\?"\}/);
    const result = { role: 'tool', tool_call_id: 'c1', content: [text('as a text')] };
    expect((await ask({ model, messages: [...messages.slice(0, 2), result] })).status).toBe(200);
    expect(JSON.stringify(under.provider.last().body.messages)).toContain('as a text');
  });

  it.each(['small', 'org/claude'])('answers with the tool calls of %s', async (model) => {
    under.provider.answers(() => ['Let me look.', { tool: 'look', id: 'c1', input: { at: 'sky' } }]);
    expect((await ask({ model, messages: [user('Look')], tools })).body).toMatchObject({
      message: { content: [text('Let me look.'), ...calls] },
      stop_reason: 'tool_calls',
    });
  });

  it('takes thinking back with its signature', async () => {
    under.provider.answers(() => [{ thinking: 'Hm.', signature: 'signed-1' }, 'Yes']);
    const { body } = await ask({ model: 'org/claude', messages: [user('Think')] });
    const thought = { kind: 'thinking', data: { text: 'Hm.', signature: 'signed-1' } };
    expect(body.message.content).toEqual([thought, text('Yes')]);
    const messages = [user('Think'), { role: 'assistant', content: body.message.content }, user('Sure?')];
    await ask({ model: 'org/claude', messages });
    expect(JSON.stringify(under.provider.last().body.messages)).toContain('"signature":"signed-1"');
  });

  it('reports how hard to think, and what one provider alone understands', async () => {
    const provider_options = { local: { user: 'u-1' } };
    await ask({ messages: [user('Hi')], reasoning_effort: 'low', provider_options });
    expect(under.provider.last().body).toMatchObject({ reasoning_effort: 'low', user: 'u-1' });
    await ask({ model: 'org/claude', messages: [user('Hi')] });
    expect(under.provider.last().body).toMatchObject({ max_tokens: 1_234 });
  });
});

it('reports that an answer is cut at its limit of tokens', async () => {
  under.provider.answers(() => ['Once upon', { cutAtLimit: true }]);
  expect((await ask({ messages: [user('Tell')] })).body.stop_reason).toBe('max_tokens');
  expect((await ask({ messages: [user('Tell')], model: 'org/claude' })).body.stop_reason).toBe('max_tokens');
});

describe('as a stream', () => {
  const names = (events: { event: string | undefined }[]) => events.map(({ event }) => event);

  it('comes in content blocks', async () => {
    const response = await stream({ messages: [user('Hi')] });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = await readEvents(response);
    expect(events.every(({ event, data }) => event === data.type)).toBe(true);
    expect(events.map(({ data }) => data)).toEqual([
      {
        type: 'message_start',
        message: {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          content: [],
          model: 'small',
          stop_reason: null,
          usage: { input_tokens: 0 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 50 } },
      { type: 'message_stop' },
    ]);
  });

  it('has a block of its own for every thought and every tool call', async () => {
    const call = (id: string) => ({ tool: 'look', id, input: { at: id } });
    under.provider.answers(() => [{ thinking: 'Hm.' }, 'I look.', call('c1'), call('c2')]);
    const events = await readEvents(await stream({ model: 'org/claude', messages: [user('Look')], tools }));
    const blocks = events.flatMap(({ data }) => (data.type === 'content_block_start' ? [data] : []));
    expect(blocks.map(({ index, content_block }) => [index, content_block.type])).toEqual([
      [0, 'thinking'],
      [1, 'text'],
      [2, 'tool_use'],
      [3, 'tool_use'],
    ]);
    expect(names(events).filter((name) => name === 'content_block_stop')).toHaveLength(4);
    expect(events.map(({ data }) => data.delta)).toContainEqual({
      type: 'input_json_delta',
      partial_json: '{"at":"c2"}',
    });
    expect(events.at(-2)?.data.delta).toEqual({ stop_reason: 'tool_calls' });
  });

  it('sends keep-alives while the model is silent, before its first word as after', async () => {
    const [first, second] = [aGate(), aGate()];
    under.provider.answers(async function* () {
      await first.opened;
      yield 'one';
      await second.opened;
      yield 'two';
    });
    const read: string[] = [];
    for await (const { event, data } of eventsOf(await stream({ messages: [user('Hi')] }))) {
      read.push(data.delta?.text ?? event);
      if (read.join() === 'message_start,ping') {
        first.open();
      }
      if (read.slice(-2).join() === 'one,ping') {
        second.open();
      }
    }
    expect(read.join()).toMatch(/^message_start,(ping,)+content_block_start,ping,one,(ping,)+two,/);
  });

  it('reports a failure in the middle with an event', async () => {
    under.provider.answers(() => ['Half', { error: { type: 'overloaded_error', message: `Busy, ${key}` } }]);
    const events = await readEvents(await stream({ model: 'org/claude', messages: [user('Hi')] }));
    expect(events.at(-1)?.data).toEqual({
      type: 'error',
      error: { type: 'server_error', message: 'LLM error: anthropic: Busy, [REDACTED]' },
    });
  });

  it('reports an answer that breaks off', async () => {
    const gate = aGate();
    under.provider.answers(async function* () {
      yield 'Half';
      await gate.opened;
      yield cut;
    });
    const read = await readEvents(await stream({ messages: [user('Hi')] }), ({ event }) => {
      if (event === 'content_block_delta') {
        gate.open();
      }
      return false;
    });
    expect(read.at(-1)?.data).toMatchObject({
      type: 'error',
      error: { type: 'server_error', message: expect.stringMatching(/^LLM error: local: .*terminated/) },
    });
  });

  it('is a 502 when the model fails before its first word', async () => {
    under.provider.answers(() => ({ status: 400, body: { error: { message: `Bad ${key}`, type: 'x' } } }));
    const response = await stream({ messages: [user('Hi')] });
    expect(response.status).toBe(502);
    expect(await response.json()).toEqual({
      errors: [{ status: '502', title: 'Bad Gateway', detail: 'LLM error: local: answered 400: Bad [REDACTED]' }],
    });
  });

  it.each([
    ['before', []],
    ['after', ['one']],
  ])('calls the model off when the caller disconnects %s the first chunk', async (_case, chunks) => {
    const gate = aGate();
    under.provider.answers(async function* () {
      yield* chunks;
      await gate.opened;
      yield 'never';
    });
    const before = under.provider.asked.length;
    const leaving = new AbortController();
    const response = stream({ messages: [user('Hi')] }, leaving.signal);
    await eventually(async () => expect(under.provider.asked).toHaveLength(before + 1));
    if (chunks.length > 0) {
      await eventsOf(await response).next();
    }
    leaving.abort();
    await response.catch(() => undefined);
    await eventually(async () => expect(under.provider.last().left).toBe(true));
    gate.open();
  });
});

describe('what does not fit', () => {
  const pdf = { kind: 'document', data: { data: 'cGRm', media_type: 'application/x-unheard-of' } };
  it.each([
    ['no messages', {}, 422, 'messages: '],
    ['an unknown field', { messages: [user('Hi')], n: 2 }, 422, 'n: unknown field'],
    [
      'an unknown part',
      { messages: [{ role: 'user', content: [{ kind: 'video', data: 'x' }] }] },
      422,
      'messages.0.content.0.kind',
    ],
    [
      'a part of another role',
      { messages: [{ role: 'user', content: calls }] },
      422,
      'a user message cannot contain tool_call',
    ],
    [
      'content elsewhere',
      { messages: [{ role: 'user', content: [{ kind: 'image', data: { url: 'http://169.254.169.254/' } }] }] },
      422,
      'url: unknown field',
    ],
    [
      'an answer to no call',
      { messages: [user('Hi'), { role: 'tool', tool_call_id: 'c9', content: [text('x')] }] },
      422,
      'the tool call c9',
    ],
    ['instructions alone', { messages: [{ role: 'system', content: [text('x')] }] }, 422, 'more than instructions'],
    [
      'a named tool without a name',
      { messages: [user('Hi')], tool_choice: { mode: 'named' } },
      422,
      'tool_choice.tool_name',
    ],
    [
      'a required tool without tools',
      { messages: [user('Hi')], tools: [], tool_choice: { mode: 'required' } },
      422,
      'tool_choice.mode: required needs tools',
    ],
    [
      'a named tool that is not there',
      { messages: [user('Hi')], tools, tool_choice: { mode: 'named', tool_name: 'zz' } },
      422,
      'tool_choice.tool_name: is the name of none of the tools',
    ],
    [
      'two tools of one name',
      { messages: [user('Hi')], tools: [...tools, ...tools] },
      422,
      'tools.1.name: is that of an earlier tool: look',
    ],
    ['a part the provider does not take', { messages: [{ role: 'user', content: [pdf] }] }, 422, 'is not supported'],
    [
      'an image for the blind',
      { model: 'nowhere', messages: [{ role: 'user', content: [image] }] },
      422,
      'nowhere does not support images.',
    ],
    [
      'tools for the clumsy',
      { model: 'nowhere', messages: [user('Hi')], tools },
      422,
      'nowhere does not support tools.',
    ],
    ['an unknown model', { model: 'none', messages: [user('Hi')] }, 404, 'Model not found: none'],
    [
      'a model of another provider',
      { model: 'small', provider: 'anthropic', messages: [user('Hi')] },
      404,
      'Model not found: small',
    ],
  ])('%s', async (_case, body, status, detail) => {
    const answer = await ask(body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body.errors)).toContain(detail);
  });

  it('is refused without a token', async () => {
    expect((await under.service.call('POST', '/completions', { messages: [user('Hi')] }, null)).status).toBe(401);
  });
});

it('takes the first model of a provider when only that is named', async () => {
  expect((await ask({ provider: 'anthropic', messages: [user('Hi')] })).body.model).toBe('org/claude');
});

it('sends nothing in a dry run', async () => {
  const dry = await startServiceUnderTest();
  try {
    const body = { messages: [user('Hi')] };
    const events = await readEvents(await dry.open('POST', '/completions', { body }));
    expect(events.map(({ event }) => event)).toEqual(['message_start', 'message_stop']);
    expect((await dry.call('POST', '/completions', { ...body, stream: false })).body).toMatchObject({
      message: { role: 'assistant', content: [] },
      stop_reason: 'end_turn',
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  } finally {
    await dry.close();
  }
});
