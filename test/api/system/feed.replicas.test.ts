import { TestWatcher } from '../../support/watcher';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let one: ApiUnderTest;
let other: ApiUnderTest;
describe('event feed with replicas', () => {
  beforeAll(async () => {
    one = await startTestApi();
    const { MONGODB_URL: shared } = one.api.context.env;
    other = await startTestApi({ BOARD_DATA_DIR: one.dataDir, ...(shared !== undefined && { MONGODB_URL: shared }) });
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const post = (replica: ApiUnderTest, path: string, body: unknown) =>
    replica.call('POST', `/api${path}`, { body, key: agentKey });

  it('reaches watchers of every replica, once and in order', async () => {
    const { sessionId } = (await post(one, '/chat/send', { message: 'hello' })).body;
    const watcher = await TestWatcher.open(other.url, {}, `?api_key=${readKey}`);
    watcher.send({ type: 'chat:subscribe', sessionId });
    await watcher.receives(({ type }) => type === 'chat:subscribed');
    for (let n = 0; n < 5; n += 1) {
      await post(n % 2 ? other : one, '/chat/squad', { message: `${n}` });
    }
    await post(one, '/broadcasts', { message: 'stop' });
    await post(one, '/chat/send', { sessionId, message: 'there' });
    await post(one, '/agent/status', { status: 'thinking' });
    await watcher.receives(({ type }) => type === 'chat:message');
    await watcher.receives(({ type, status }) => type === 'agent:status' && status === 'thinking');
    expect(watcher.of('squad:message').map(({ message }) => message.message)).toEqual(['0', '1', '2', '3', '4']);
    expect(watcher.of('broadcast:new')).toHaveLength(1);
    watcher.close();
  });

  it('is recorded once, whichever replica did it', async () => {
    const { id } = (await post(one, '/tasks', { title: 'A task' })).body;
    await post(other, `/tasks/${id}/comments`, { text: 'Look, @ada' });
    const read = async (path: string) => (await other.call('GET', `/api${path}`, { key: readKey })).body;
    const reported = await read(`/activity?taskId=${id}`);
    expect(reported.map(({ type }: { type: string }) => type)).toEqual(['comment_added', 'task_created']);
    expect(await read('/notifications?agent=ada')).toHaveLength(1);
  });
});
