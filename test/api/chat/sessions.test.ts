import { TestWatcher } from '../../support/watcher';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('chat sessions API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const send = (body: unknown, key?: string) => board.call('POST', '/api/chat/send', { body, ...(key && { key }) });
  const get = (path: string) => board.call('GET', `/api/chat/sessions${path}`, { key: readKey });

  it('begins a session with the first message, and continues with it', async () => {
    const first = await send({ message: 'How does <b>it</b>\nwork?', agent: 'ada', model: 'large', mode: 'build' });
    expect(first).toMatchObject({ status: 201, body: { message: { role: 'user', sequence: 1 } } });
    const { sessionId } = first.body;
    const second = await send({ sessionId, message: 'Like this.' }, agentKey);
    expect(second.body.message).toMatchObject({ role: 'assistant', content: 'Like this.', createdBy: 'agent:worker' });
    expect((await get(`/${sessionId}`)).body).toMatchObject({
      id: sessionId,
      title: 'How does it work?',
      agent: 'ada',
      model: 'large',
      mode: 'build',
      messages: [first.body.message, second.body.message],
    });
    expect((await get('')).body[0]).toMatchObject({ id: sessionId });
  });

  it('belongs to a task that there is', async () => {
    const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'A task' } })).body;
    const { sessionId } = (await send({ message: 'About this', taskId: id })).body;
    expect((await get(`?taskId=${id}`)).body).toEqual([expect.objectContaining({ id: sessionId, taskId: id })]);
    expect((await send({ message: 'About that', taskId: 'task_20260101_nobody' })).status).toBe(404);
  });

  it('keeps every one of many messages at once in one order, and pages through them', async () => {
    const { sessionId } = (await send({ message: 'first' })).body;
    await Promise.all(Array.from({ length: 25 }, (_, n) => send({ sessionId, message: `message ${n}` })));
    const newest = (await get(`/${sessionId}/history?limit=10`)).body;
    const sequences = (messages: { sequence: number }[]) => messages.map(({ sequence }) => sequence);
    expect(sequences(newest)).toEqual([17, 18, 19, 20, 21, 22, 23, 24, 25, 26]);
    const before = (await get(`/${sessionId}/history?before=17`)).body;
    expect(sequences(before)).toEqual(Array.from({ length: 16 }, (_, n) => n + 1));
  });

  it('is removed with its messages once it is deleted', async () => {
    const { sessionId } = (await send({ message: 'secret' })).body;
    const remove = (key?: string) => board.call('DELETE', `/api/chat/sessions/${sessionId}`, { ...(key && { key }) });
    expect((await remove(readKey)).status).toBe(403);
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await get(`/${sessionId}`)).status).toBe(404);
    expect((await get(`/${sessionId}/history`)).status).toBe(404);
    expect((await send({ sessionId, message: 'more' })).status).toBe(404);
  });

  it('notifies its followers only', async () => {
    const { sessionId } = (await send({ message: 'one' })).body;
    const other = (await send({ message: 'elsewhere' })).body.sessionId;
    const [follower, passer] = await Promise.all(
      [1, 2].map(() => TestWatcher.open(board.url, {}, `?api_key=${readKey}`)),
    );
    follower?.send({ type: 'chat:subscribe', sessionId: other });
    follower?.send({ type: 'chat:subscribe', sessionId });
    await follower?.receives((message) => message.type === 'chat:subscribed' && message.sessionId === sessionId);
    await send({ sessionId: other, message: 'not for you' });
    const { message } = (await send({ sessionId, message: 'two' })).body;
    await follower?.receives(({ type }) => type === 'chat:message');
    expect(follower?.of('chat:message')).toEqual([expect.objectContaining({ sessionId, message })]);
    expect(passer?.of('chat:message')).toEqual([]);
    passer?.send({ type: 'chat:subscribe', sessionId: 'chat_000000000000' });
    await passer?.receives(({ type, code }) => type === 'error' && code === 'NOT_FOUND');
    follower?.close();
    passer?.close();
  });

  it.each([
    ['no message', {}, 'message'],
    ['a message too long', { message: 'x'.repeat(20_001) }, 'message'],
    ['an unknown mode', { message: 'a', mode: 'sing' }, 'mode'],
    ['an id that is none', { message: 'a', sessionId: '../x' }, 'sessionId'],
    ['a field that is none', { message: 'a', loud: true }, 'loud'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await send(body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs the permission to comment', async () => {
    expect((await send({ message: 'a' }, readKey)).status).toBe(403);
  });
});
