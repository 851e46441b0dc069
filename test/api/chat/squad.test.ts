import type { SquadMessage } from '../../../contracts/chat/squad';
import { TestWatcher } from '../../support/watcher';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('squad API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const post = (body: unknown, key = agentKey) => board.call('POST', '/api/chat/squad', { body, key });
  const posted = async (body: unknown): Promise<SquadMessage> => (await post(body)).body;
  const get = async (path: string) => (await board.call('GET', `/api/chat/squad${path}`, { key: readKey })).body;
  const texts = (messages: SquadMessage[]) => messages.map(({ message }) => message);
  const react = (id: string, body: unknown) =>
    board.call('POST', `/api/chat/squad/${id}/react`, { body, key: agentKey });

  it('keeps messages of the chat stores, with what it is about', async () => {
    const task = { taskId: 'task_20260101_abcdef', taskTitle: 'Ship', tags: ['release'], links: [{ href: '/board' }] };
    const { status, body } = await post({
      message: 'Done <b>it</b>, @ada',
      model: 'large',
      ...task,
      mentions: [{ target: 'bob', kind: 'user' }],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^msg_[a-f0-9]{12}$/),
      agent: 'worker',
      message: 'Done it, @ada',
      mentions: [
        { target: 'bob', kind: 'user' },
        { target: 'ada', kind: 'agent' },
      ],
      ...task,
      replyCount: 0,
      reactions: [],
      pinned: false,
      createdBy: 'agent:worker',
    });
    expect(await get('')).toEqual([body]);
  });

  it('lists the newest, the oldest of them first, by agent, time and who writes', async () => {
    const first = await posted({ agent: 'ada', message: 'one' });
    await posted({ agent: 'bob', message: 'two' });
    await posted({ agent: 'ada', message: 'three', system: true, event: 'agent.completed', duration: 5 });
    expect(texts(await get(''))).toEqual(['one', 'two']);
    expect(texts(await get('?includeSystem=true&limit=2'))).toEqual(['two', 'three']);
    expect(texts(await get('?agent=ada&includeSystem=true'))).toEqual(['one', 'three']);
    expect(texts(await get(`?since=${new Date(Date.parse(first.timestamp) - 1).toISOString()}`))).toEqual([
      'one',
      'two',
    ]);
    expect(await get(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  });

  it('keeps the answers of a thread together and counts them', async () => {
    const root = await posted({ message: 'question' });
    const answer = await posted({ message: 'answer', replyToId: root.id });
    const further = await posted({ message: 'further', replyToId: answer.id });
    await posted({ message: 'also', threadId: root.id });
    expect(further.threadId).toBe(root.id);
    for (const id of [root.id, further.id]) {
      const thread = await get(`/${id}/thread`);
      expect(texts(thread)).toEqual(['question', 'answer', 'further', 'also']);
      expect(thread[0].replyCount).toBe(3);
    }
    const other = await posted({ message: 'other' });
    expect(await post({ message: 'lost', replyToId: answer.id, threadId: other.id })).toMatchObject({ status: 400 });
    expect(await post({ message: 'lost', replyToId: 'msg_000000000000' })).toMatchObject({ status: 404 });
    expect((await board.call('GET', '/api/chat/squad/msg_000000000000/thread')).status).toBe(404);
  });

  it('counts every answer of many at once', async () => {
    const root = await posted({ message: 'question' });
    await Promise.all(Array.from({ length: 20 }, (_, n) => posted({ message: `answer ${n}`, replyToId: root.id })));
    expect((await get(`/${root.id}/thread`))[0].replyCount).toBe(20);
  });

  it('loses none of many reactions at once, and counts the same one once', async () => {
    const { id } = await posted({ message: 'nice' });
    const actors = Array.from({ length: 20 }, (_, n) => `agent-${n}`);
    const twice = [...actors, ...actors];
    const replies = await Promise.all(twice.map((actor) => react(id, { actor, reaction: '👍' })));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const [message] = await get('');
    expect(message.reactions.map(({ actor }: { actor: string }) => actor).sort()).toEqual([...actors].sort());
  });

  it('takes so many reactions and no more', async () => {
    const { id } = await posted({ message: 'nice' });
    for (let from = 0; from < 200; from += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => react(id, { actor: `agent-${from + n}`, reaction: '+' })));
    }
    expect(await react(id, { actor: 'late', reaction: '+' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    expect(await react(id, { actor: 'agent-7', reaction: '+' })).toMatchObject({ status: 200 });
  });

  it('pins messages and marks decisions, each by itself', async () => {
    const { id } = await posted({ message: 'We use it' });
    const pin = (body: unknown) => board.call('POST', `/api/chat/squad/${id}/pin`, { body, key: agentKey });
    expect((await pin({ pinned: true })).body).toMatchObject({ pinned: true, decision: false });
    expect((await pin({ decision: true })).body).toMatchObject({ pinned: true, decision: true });
    expect((await pin({ pinned: false })).body).toMatchObject({ pinned: false, decision: true });
    expect((await pin({})).status).toBe(400);
    expect((await board.call('POST', '/api/chat/squad/msg_none/pin', { body: { pinned: true } })).status).toBe(404);
  });

  it('counts the unread messages of others', async () => {
    const one = await posted({ agent: 'ada', message: 'one' });
    const two = await posted({ agent: 'ada', message: 'two, @bob' });
    await posted({ agent: 'bob', message: 'mine' });
    expect(await get('/unread?actor=bob')).toEqual({
      actor: 'bob',
      unreadCount: 2,
      mentionCount: 1,
      latestUnreadMessageId: two.id,
    });
    const read = (messageId: string) =>
      board.call('POST', '/api/chat/squad/read', { body: { actor: 'bob', messageId }, key: agentKey });
    expect((await read(two.id)).body).toMatchObject({ unreadCount: 0, mentionCount: 0, lastReadMessageId: two.id });
    expect((await read(one.id)).body).toMatchObject({ lastReadMessageId: two.id, unreadCount: 0 });
    expect((await read('msg_000000000000')).status).toBe(404);
  });

  it('finds messages without showing them, and without their secrets', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    await posted({
      agent: 'ada',
      message: `${'long '.repeat(50)}the Needle is here: ${secret} ${'and more '.repeat(50)}`,
    });
    const [hit, ...rest] = await get('/search?q=needle');
    expect(rest).toEqual([]);
    expect(hit.snippet).toMatch(/^….*Needle is here: \[REDACTED\].*…$/);
    expect(hit.message).toBeUndefined();
    expect(await get(`/search?q=${secret.slice(0, 12)}`)).toEqual([]);
    expect((await board.call('GET', '/api/chat/squad/search')).status).toBe(400);
  });

  it('notifies whom a message mentions', async () => {
    await posted({ agent: 'ada', message: 'Look, @bob and @carol', mentions: [{ target: 'bob', kind: 'user' }] });
    const { body } = await board.call('GET', '/api/notifications?agent=bob', { key: readKey });
    expect(body).toEqual([
      expect.objectContaining({ targetAgent: 'bob', fromAgent: 'ada', type: 'mention', delivered: false }),
    ]);
    expect((await board.call('GET', '/api/notifications?agent=carol', { key: readKey })).body).toHaveLength(1);
  });

  it('notifies watchers of changes, in order', async () => {
    const watcher = await TestWatcher.open(board.url, {}, `?api_key=${readKey}`);
    const elsewhere = await TestWatcher.open(board.url, {}, `?api_key=${readKey}`);
    elsewhere.send({ type: 'subscribe:tasks' });
    await elsewhere.receives(({ type }) => type === 'tasks:subscribed');
    watcher.send({ type: 'subscribe', channel: 'squad' });
    await watcher.receives(({ type }) => type === 'squad:subscribed');
    const { id } = await posted({ agent: 'ada', message: 'Hello @bob' });
    await react(id, { actor: 'bob', reaction: '👋' });
    await board.call('POST', `/api/chat/squad/${id}/pin`, { body: { pinned: true } });
    await board.call('POST', '/api/chat/squad/read', { body: { actor: 'bob', messageId: id } });
    await watcher.receives(({ type }) => type === 'squad:read');
    const received = watcher.received.filter(({ type }) => type.startsWith('squad:') && type !== 'squad:subscribed');
    expect(received).toEqual([
      expect.objectContaining({
        type: 'squad:message',
        message: expect.objectContaining({ id, message: 'Hello @bob' }),
      }),
      expect.objectContaining({
        type: 'squad:mention',
        messageId: id,
        agent: 'ada',
        mention: { target: 'bob', kind: 'agent' },
      }),
      expect.objectContaining({ type: 'squad:reaction', messageId: id, actor: 'bob', reaction: '👋' }),
      expect.objectContaining({ type: 'squad:pin', messageId: id, pinned: true, decision: false }),
      expect.objectContaining({ type: 'squad:read', actor: 'bob', lastReadMessageId: id }),
    ]);
    expect(elsewhere.of('squad:message')).toEqual([]);
    watcher.close();
    elsewhere.close();
  });

  it.each([
    ['no message', {}, 'message'],
    ['nothing but tags', { message: '<br>' }, 'message'],
    ['a message too long', { message: 'x'.repeat(5001) }, 'message'],
    ['a link that runs', { message: 'a', links: [{ href: 'javascript:alert(1)' }] }, 'links.0.href'],
    ['an unknown kind', { message: 'a', mentions: [{ target: 'b', kind: 'pet' }] }, 'mentions.0.kind'],
    ['a field that is none', { message: 'a', loud: true }, 'loud'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await post(body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs the permission to comment', async () => {
    expect((await post({ message: 'a' }, readKey)).status).toBe(403);
  });
});
