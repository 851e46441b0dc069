import { TestWatcher } from '../../support/watcher';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('broadcasts API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const broadcast = (body: unknown, key = agentKey) => board.call('POST', '/api/broadcasts', { body, key });
  const list = async (query = '') => (await board.call('GET', `/api/broadcasts${query}`, { key: readKey })).body;
  const read = (id: string, agent: string, key = agentKey) =>
    board.call('PATCH', `/api/broadcasts/${id}/read`, { body: { agent }, key });

  it('stores a broadcast and notifies watchers', async () => {
    const watcher = await TestWatcher.open(board.url, {}, `?api_key=${readKey}`);
    watcher.send({ type: 'subscribe', channel: 'broadcasts' });
    await watcher.receives(({ type }) => type === 'broadcasts:subscribed');
    const { status, body } = await broadcast({ message: 'Stop <i>now</i>', priority: 'urgent', tags: ['ops'] });
    expect(status).toBe(201);
    expect(body).toMatchObject({ message: 'Stop now', priority: 'urgent', from: 'worker', tags: ['ops'], readBy: [] });
    expect((await watcher.receives(({ type }) => type === 'broadcast:new')).broadcast).toEqual(body);
    expect((await board.call('GET', `/api/broadcasts/${body.id}`)).body).toEqual(body);
    watcher.close();
  });

  it('lists the newest first, by time, priority and who has not read them', async () => {
    const first = (await broadcast({ message: 'one' })).body;
    const second = (await broadcast({ message: 'two', priority: 'urgent' })).body;
    await read(first.id, 'ada');
    const ids = (all: { id: string }[]) => all.map(({ id }) => id).sort();
    expect(ids(await list())).toEqual([first.id, second.id].sort());
    expect(ids(await list('?priority=urgent'))).toEqual([second.id]);
    expect(ids(await list('?unread=true&agent=ada'))).toEqual([second.id]);
    expect(ids(await list('?unread=true&agent=bob'))).toHaveLength(2);
    expect(await list(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
    expect((await board.call('GET', '/api/broadcasts?unread=true')).status).toBe(400);
  });

  it('loses none of many readers at once, and counts each once', async () => {
    const { id } = (await broadcast({ message: 'one' })).body;
    const agents = Array.from({ length: 20 }, (_, n) => `agent-${n}`);
    const replies = await Promise.all([...agents, ...agents].map((agent) => read(id, agent)));
    expect(replies.every(({ status, body }) => status === 200 && body.success)).toBe(true);
    const [{ readBy }] = await list();
    expect(readBy.map(({ agent }: { agent: string }) => agent).sort()).toEqual([...agents].sort());
  });

  it('refuses what cannot be, by the path of the field', async () => {
    for (const [body, path] of [
      [{}, 'message'],
      [{ message: 'x'.repeat(5001) }, 'message'],
      [{ message: 'a', priority: 'low' }, 'priority'],
      [{ message: 'a', loud: true }, 'loud'],
    ] as const) {
      const refused = await broadcast(body);
      expect(refused.status).toBe(400);
      expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
    }
    expect((await broadcast({ message: 'a' }, readKey)).status).toBe(403);
    expect((await read('broadcast_none', 'ada')).status).toBe(404);
    expect((await read('broadcast_none', 'ada', readKey)).status).toBe(403);
    expect((await board.call('GET', '/api/broadcasts/broadcast_none')).status).toBe(404);
  });
});
