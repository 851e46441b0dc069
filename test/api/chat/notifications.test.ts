import type { Notification } from '../../../contracts/chat/notification';
import type { NewTask } from '../../support/factories/task';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('notifications API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const call = (method: string, path: string, body?: unknown, key?: string) =>
    board.call(method, `/api${path}`, { body, ...(key && { key }) });
  const notify = (body: unknown, key?: string) => call('POST', '/notifications', body, key);
  const of = async (agent: string, query = ''): Promise<Notification[]> =>
    (await call('GET', `/notifications?agent=${agent}${query}`, undefined, readKey)).body;
  const aTask = async (fields: Partial<NewTask> = {}): Promise<string> => (await board.createTask(fields)).id;

  it('is delivered to the caller that lists the pending ones', async () => {
    const first = (await notify({ message: 'Disk <b>full</b>', type: 'alert', title: 'Disk' })).body;
    expect(first).toMatchObject({ content: 'Disk full', fromAgent: 'admin', delivered: false });
    await notify({ message: 'For ada', targetAgent: 'ada' });
    const pending = (await call('GET', '/notifications/pending')).body;
    expect(pending).toEqual({
      count: 1,
      messages: [{ id: first.id, type: 'alert', text: 'Disk full', timestamp: first.createdAt }],
    });
    const sent = () => call('POST', '/notifications/mark-sent', { ids: [first.id, 'notification_none'] });
    expect((await sent()).body).toEqual({ success: true, count: 1 });
    expect((await sent()).body).toEqual({ success: true, count: 0 });
    expect((await call('GET', '/notifications/pending')).body.count).toBe(0);
  });

  it('is made once for a dedupeKey, however many requests come at once', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => notify({ message: 'Full', dedupeKey: 'disk' })));
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect((await call('GET', '/notifications')).body).toHaveLength(1);
  });

  it('comes of the mentions in a comment, once for each who is mentioned', async () => {
    const id = await aTask();
    await call('POST', `/tasks/${id}/comments`, { author: 'eve', text: 'Look, @ada and @bob, @ada! (@eve)' });
    await call('POST', `/tasks/${id}/comments`, { author: 'eve', text: 'nobody' });
    expect(await of('ada')).toEqual([
      expect.objectContaining({ type: 'mention', taskId: id, taskTitle: 'A task', fromAgent: 'eve', delivered: false }),
    ]);
    expect(await of('bob')).toHaveLength(1);
    expect(await of('eve')).toEqual([]);
  });

  it('is delivered one by one or all at once', async () => {
    const one = (await notify({ message: 'one', targetAgent: 'ada' })).body;
    await notify({ message: 'two', targetAgent: 'ada' });
    const delivered = await call('POST', `/notifications/${one.id}/delivered`, undefined, agentKey);
    expect(delivered.body).toMatchObject({ delivered: true, deliveredAt: expect.any(String) });
    expect(await of('ada', '&undelivered=true')).toEqual([expect.objectContaining({ content: 'two' })]);
    const all = () => call('POST', '/notifications/delivered-all', { agent: 'ada' }, agentKey);
    expect((await all()).body).toEqual({ success: true, count: 1 });
    expect((await all()).body).toEqual({ success: true, count: 0 });
    expect((await call('POST', '/notifications/notification_none/delivered')).status).toBe(404);
    expect((await call('GET', '/notifications/stats', undefined, agentKey)).body).toEqual({
      total: 2,
      undelivered: 0,
      delivered: 2,
      byType: { info: 2 },
    });
  });

  it('comes of any text that is processed, but not to the one who wrote it', async () => {
    const id = await aTask();
    const body = { taskId: id, fromAgent: 'ada', content: '@all, ask @carol', allAgents: ['ada', 'bob'] };
    const processed = await call('POST', '/notifications/process', body, agentKey);
    expect(processed.status).toBe(201);
    expect(processed.body.map(({ targetAgent }: Notification) => targetAgent)).toEqual(['bob', 'carol']);
    expect(await of('bob', `&taskId=${id}`)).toHaveLength(1);
    expect((await call('POST', '/notifications/process', { ...body, taskId: 'task_20260101_nobody' })).status).toBe(
      404,
    );
  });

  it('knows who has to do with a task', async () => {
    const id = await aTask({ agent: 'ada' });
    await call('POST', `/tasks/${id}/comments`, { author: 'bob', text: 'What do you say, @carol and @ada?' });
    const { body } = await call('GET', `/notifications/subscriptions/${id}`, undefined, readKey);
    expect(body).toEqual([
      { taskId: id, agent: 'ada', reasons: ['assigned', 'mentioned'] },
      { taskId: id, agent: 'bob', reasons: ['commented'] },
      { taskId: id, agent: 'carol', reasons: ['mentioned'] },
    ]);
    expect((await call('GET', '/notifications/subscriptions/task_20260101_nobody')).status).toBe(404);
  });

  it('is made, sent on and cleared by administrators only', async () => {
    expect((await notify({ message: 'a' }, agentKey)).status).toBe(403);
    expect((await call('GET', '/notifications', undefined, agentKey)).status).toBe(403);
    expect((await call('GET', '/notifications?agent=ada', undefined, agentKey)).status).toBe(200);
    expect((await call('GET', '/notifications/pending', undefined, agentKey)).status).toBe(403);
    expect((await call('POST', '/notifications/mark-sent', { ids: ['a'] }, agentKey)).status).toBe(403);
    expect((await call('DELETE', '/notifications', undefined, agentKey)).status).toBe(403);
    expect((await call('POST', '/notifications/check', undefined, readKey)).status).toBe(403);
    expect((await call('POST', '/notifications/check', undefined, agentKey)).body).toEqual({ checked: 0, created: 0 });
    await notify({ message: 'a' });
    expect((await call('DELETE', '/notifications')).status).toBe(204);
    expect((await call('GET', '/notifications')).body).toEqual([]);
  });

  it.each([
    ['no message', {}, 'message'],
    ['an address that runs', { message: 'a', targetUrl: 'javascript:alert(1)' }, 'targetUrl'],
    ['a type that is none', { message: 'a', type: 'No Type' }, 'type'],
    ['a field that is none', { message: 'a', loud: true }, 'loud'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await notify(body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });
});
