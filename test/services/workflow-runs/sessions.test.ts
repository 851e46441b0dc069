import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { type Exchange, maxMessages } from '../../../services/workflow-runs/sessions/session';
import { openDatabase } from '../../../stores/port/open';
import { aGate } from '../../support/models/provider';
import { readEvents, type StreamEvent } from './events';
import { startWithModels, type WithModels } from './models-under-test';
import { startServiceUnderTest } from './service-under-test';

let under: WithModels;
beforeAll(async () => {
  under = await startWithModels({ WORKFLOW_RUNS_PING_MS: '200' });
});
afterAll(() => under.close());
beforeEach(() => under.provider.answers(() => ['Hello', ' there']));

const call = (method: string, path: string, body?: unknown, token?: string | null) =>
  under.service.call(method, path, body, token);
const create = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await call('POST', '/sessions', { content: 'Hi', ...body })).body.id;
const watch = (id: string, after?: number) =>
  under.service.open('GET', `/sessions/${id}/events`, {
    ...(after === undefined ? {} : { headers: { 'last-event-id': String(after) } }),
  });
const isDone =
  (turn: number) =>
  ({ event, data }: StreamEvent) =>
    event === 'done' && data.turn === turn;
const turnsOf = async (id: string): Promise<[string, string][]> =>
  (await call('GET', `/sessions/${id}`)).body.turns.map(({ kind, content }: { kind: string; content: string }) => [
    kind,
    content,
  ]);
/** The events up to the one that is wanted last, without the signs of life between them: a busy machine pauses long enough for one. */
const read = async (id: string, until: (event: StreamEvent) => boolean, after?: number): Promise<StreamEvent[]> =>
  (await readEvents(await watch(id, after), until)).filter(({ event }) => event !== 'ping');
/** The text of a turn as a client puts it together from its pieces. */
const textOf = (events: StreamEvent[], turn: number): string =>
  events
    .filter(({ event, data }) => event === 'content_delta' && data.turn === turn)
    .reduce((text, { data }) => text.slice(0, data.offset) + data.delta, '');
/** An answer that begins, and continues when the gate is open. */
const halting = (gate: { opened: Promise<void> }) =>
  async function* () {
    yield 'Half an answer';
    await gate.opened;
    yield ', and the rest';
  };
const hasBegun = async (id: string): Promise<StreamEvent[]> => read(id, ({ event }) => event === 'content_delta');

describe('a model session', () => {
  it('names the limit of tokens that cut an answer', async () => {
    under.provider.answers(() => ['Once upon', { cutAtLimit: true }]);
    const id = await create();
    const events = await read(id, isDone(1));
    const cutTurn = { kind: 'assistant', content: 'Once upon', stop_reason: 'max_tokens' };
    expect(events.at(-2)).toMatchObject({ event: 'assistant_turn', data: cutTurn });
    expect((await call('GET', `/sessions/${id}`)).body.turns.at(-1)).toMatchObject(cutTurn);
  });

  it('begins with a message and answers it', async () => {
    const { status, body } = await call('POST', '/sessions', { content: 'Hi', model: 'quick', system: 'Be brief.' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      title: 'Hi',
      model: { id: 'small' },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const events = await read(body.id, isDone(1));
    expect(textOf(events, 1)).toBe('Hello there');
    expect(events.slice(-2).map(({ event, data }) => [event, data])).toEqual([
      ['assistant_turn', { kind: 'assistant', content: 'Hello there', created_at: expect.any(String), turn: 1 }],
      ['done', { turn: 1 }],
    ]);
    expect(events.map(({ id }) => id)).toEqual(events.map((_event, index) => index + 1));
    expect(await call('GET', `/sessions/${body.id}`)).toMatchObject({
      status: 200,
      body: {
        title: 'Hi',
        turns: [
          { kind: 'user', content: 'Hi', created_at: expect.any(String) },
          { kind: 'assistant', content: 'Hello there', created_at: expect.any(String) },
        ],
      },
    });
    expect(JSON.stringify(under.provider.last().body.messages)).toMatch(/Be brief\..*Hi/);
  });

  it('continues with the conversation', async () => {
    const id = await create({ content: 'First' });
    await read(id, isDone(1));
    under.provider.answers(() => ['Indeed']);
    expect(await call('POST', `/sessions/${id}/messages`, { content: 'Second' })).toMatchObject({
      status: 202,
      body: { accepted: true },
    });
    const events = await read(id, isDone(2));
    expect([textOf(events, 1), textOf(events, 2)]).toEqual(['Hello there', 'Indeed']);
    expect(under.provider.last().body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    expect(await turnsOf(id)).toEqual([
      ['user', 'First'],
      ['assistant', 'Hello there'],
      ['user', 'Second'],
      ['assistant', 'Indeed'],
    ]);
  });

  it('lists the sessions, the one with the latest message first', async () => {
    const [older, newer] = [await create({ content: 'Older' }), await create({ content: 'Newer' })];
    for (const id of [older, newer]) {
      await read(id, isDone(1));
    }
    const long = 'word '.repeat(40);
    under.provider.answers(() => [long]);
    await call('POST', `/sessions/${older}/messages`, { content: 'Again' });
    await read(older, isDone(2));
    const { body } = await call('GET', '/sessions?page[limit]=2');
    expect(body).toMatchObject({
      data: [
        { id: older, title: 'Older', last_message_preview: `${long.slice(0, 100)}…` },
        { id: newer, title: 'Newer', last_message_preview: 'Hello there' },
      ],
      meta: { has_more: true },
    });
  });

  it('gives an answer up for the next message, and keeps nothing of it', async () => {
    const gate = aGate();
    under.provider.answers(halting(gate));
    const id = await create({ content: 'First' });
    await hasBegun(id);
    const superseded = under.provider.last();
    under.provider.answers(() => ['To the second']);
    await call('POST', `/sessions/${id}/messages`, { content: 'Second' });
    const events = await read(id, isDone(2));
    expect(events).toContainEqual(expect.objectContaining({ event: 'superseded', data: { turn: 1 } }));
    expect(textOf(events, 2)).toBe('To the second');
    await eventually(async () => expect(superseded.left).toBe(true));
    gate.open();
    expect(await turnsOf(id)).toEqual([
      ['user', 'First'],
      ['user', 'Second'],
      ['assistant', 'To the second'],
    ]);
  });

  it('numbers messages that come at once one after the other, and answers the last', async () => {
    const id = await create({ content: '1' });
    const contents = ['2', '3', '4', '5'];
    const replies = await Promise.all(contents.map((content) => call('POST', `/sessions/${id}/messages`, { content })));
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    await read(id, isDone(5));
    const turns = await turnsOf(id);
    const asked = turns.filter(([kind]) => kind === 'user').map(([, content]) => content);
    expect([asked[0], asked.slice(1).sort()]).toEqual(['1', contents]);
    expect(turns.at(-1)).toEqual(['assistant', 'Hello there']);
  });

  it('continues for a watcher behind the last event it has seen', async () => {
    const id = await create();
    const all = await read(id, isDone(1));
    const { id: first } = all[0]!;
    expect(await read(id, isDone(1), first)).toEqual(all.slice(1));
    // Nothing new: only signs of life.
    const [idle] = await readEvents(await watch(id, all.at(-1)!.id), () => true);
    expect(idle).toEqual({ event: 'ping', id: undefined, data: {} });
  });

  it('tries again when the model is not available for a while', async () => {
    let tries = 0;
    under.provider.answers(() => (++tries === 1 ? { status: 503, body: {} } : ['At last']));
    const events = await read(await create(), isDone(1));
    expect(textOf(events, 1)).toBe('At last');
    expect(events.find(({ event }) => event === 'content_delta')?.data).toMatchObject({ attempt: 2, offset: 0 });
  });

  it('reports why there is no answer, and takes the next message', async () => {
    under.provider.answers(() => ({ status: 400, body: { error: { message: 'Too rude', type: 'x' } } }));
    const id = await create({ content: 'Rude' });
    const events = await read(id, ({ event }) => event === 'error');
    expect(events.at(-1)?.data).toEqual({ message: 'LLM error: local: answered 400: Too rude', turn: 1 });
    expect(await turnsOf(id)).toEqual([['user', 'Rude']]);
    under.provider.answers(() => ['Better']);
    await call('POST', `/sessions/${id}/messages`, { content: 'Polite' });
    await read(id, isDone(2));
    expect(await turnsOf(id)).toEqual([
      ['user', 'Rude'],
      ['user', 'Polite'],
      ['assistant', 'Better'],
    ]);
  });

  it('finishes an answer after the service was ended in the middle of it', async () => {
    const gate = aGate();
    under.provider.answers(halting(gate));
    const id = await create();
    // Pings may come before it.
    const before = (await hasBegun(id)).at(-1);
    expect(before?.data).toMatchObject({ turn: 1, attempt: 1, offset: 0 });
    under.provider.answers(() => ['Whole']);
    await under.service.restart();
    gate.open();
    const events = await read(id, isDone(1));
    expect(events.map(({ data }) => data.delta)).toContain('Half an answer');
    expect(textOf(events, 1)).toBe('Whole');
    expect(events.filter(({ event }) => event === 'assistant_turn')).toHaveLength(1);
  });

  it('sends the model no more of the conversation than it can take', async () => {
    // Three of these fit into its window.
    const long = 'x'.repeat(99_000);
    const id = await create({ content: `1${long}` });
    await read(id, isDone(1));
    for (const turn of [2, 3, 4]) {
      await call('POST', `/sessions/${id}/messages`, { content: `${turn}${long}` });
      await read(id, isDone(turn));
    }
    const sent: { role: string; content: string }[] = under.provider.last().body.messages;
    expect(sent.filter(({ role }) => role === 'user').map(({ content }) => content[0])).toEqual(['2', '3', '4']);
  });

  it('takes no further message into a session that is full', async () => {
    const id = await create();
    await read(id, isDone(1));
    const dataDir = join(under.service.dataDir, 'workflow-runs');
    const database = await openDatabase({ dataDir, log: createLog({ name: 'test', level: 'silent' }) });
    const exchanges = await database.collection<Exchange>({ name: 'workflow-run-exchanges' });
    const created_at = new Date().toISOString();
    const last = { _id: randomUUID(), session: id, number: maxMessages, content: 'x', created_at };
    await exchanges.insert({ ...last, state: 'failed' });
    await database.close();
    expect(await call('POST', `/sessions/${id}/messages`, { content: 'One more' })).toMatchObject({
      status: 409,
      body: { errors: [{ detail: 'A session takes at most 1000 messages.' }] },
    });
  });

  it('ends its streams when the service ends', async () => {
    const stream = readEvents(await watch(await create()));
    await under.service.restart();
    expect((await stream).at(0)).toMatchObject({ id: 1 });
  });

  it.each([
    ['POST', '/sessions', { content: '  ' }, 422, 'content: must not be blank'],
    ['POST', '/sessions', { content: 'x'.repeat(100_001) }, 422, 'content'],
    ['POST', '/sessions', { content: 'Hi', tone: 'x' }, 422, 'tone: unknown field'],
    ['POST', '/sessions', { content: 'Hi', model: 'none' }, 404, 'Model not found: none'],
    ['GET', '/sessions/3f333df6-90a4-4fda-8dd3-9485d27cee36', undefined, 404, 'Session not found.'],
    ['GET', '/sessions/3f333df6-90a4-4fda-8dd3-9485d27cee36/events', undefined, 404, 'Session not found.'],
    ['POST', '/sessions/3f333df6-90a4-4fda-8dd3-9485d27cee36/messages', { content: 'Hi' }, 404, 'Session not found.'],
    ['GET', '/sessions/nonsense', undefined, 400, 'id'],
  ])('refuses %s %s %p', async (method, path, body, status, detail) => {
    const answer = await call(method, path, body);
    expect(answer.status).toBe(status);
    expect(answer.body.errors[0].detail).toContain(detail);
  });

  it('is refused without a token', async () => {
    expect((await call('GET', '/sessions', undefined, null)).status).toBe(401);
    expect((await call('POST', '/sessions', { content: 'Hi' }, null)).status).toBe(401);
  });

  it('answers with a fixed text in a dry run', async () => {
    const dry = await startServiceUnderTest();
    try {
      const { body } = await dry.call('POST', '/sessions', { content: 'Hi' });
      const events = await readEvents(await dry.open('GET', `/sessions/${body.id}/events`), isDone(1));
      expect(events.map(({ event }) => event)).toEqual(['content_delta', 'assistant_turn', 'done']);
      expect(events[1]?.data.content).toBe('This is a dry run: no model was called.');
    } finally {
      await dry.close();
    }
  });
});
