import { eventually } from '../../../platform/testing/eventually';
import { aReceiver } from '../../services/receiver';
import { type Stack, startStack } from '../../support/stack/stack';

describe('actions of transition rules', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ BOARD_WEBHOOK_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '50' });
  });
  afterAll(() => stack.close());

  const write = (fields: object) =>
    stack.call.ok('PUT', '/api/settings/transition-hooks', { enabled: true, rules: [], ...fields });
  const executions = async (taskId: string) =>
    (await stack.call.ok('GET', `/api/hooks/executions?taskId=${taskId}`)) as {
      action: string;
      state: string;
      attempts: number;
    }[];
  const done = async (fields: object = {}) => {
    const { id } = await stack.call.createTask({ title: 'Ship', ...fields });
    await stack.call.ok('PATCH', `/api/tasks/${id}`, { status: 'done' });
    return id as string;
  };
  const notified = (id: string) => stack.call.ok('GET', `/api/notifications?taskId=${id}`);

  test('follow a change once each, however many replicas observe it', async () => {
    const another = await stack.anotherApi();
    const receiver = await aReceiver((nth) => (nth === 1 ? 503 : 200));
    const actions = [
      { type: 'send-webhook', url: receiver.url },
      'send-notification',
      'prompt-lessons-learned',
      'log-activity',
    ];
    await write({ rules: [{ id: 'all', name: 'All', from: '*', to: 'done', actions }] });
    const id = await done({ agent: 'bee' });
    await eventually(async () =>
      expect((await executions(id)).filter(({ state }) => state === 'delivered')).toHaveLength(4),
    );
    const all = await executions(id);
    expect(Object.fromEntries(all.map(({ action, attempts }) => [action, attempts]))).toEqual({
      ...{ 'send-webhook': 2, 'send-notification': 1, 'prompt-lessons-learned': 1, 'log-activity': 1 },
    });
    expect(await notified(id)).toHaveLength(2);
    const logged = await stack.call.ok('GET', `/api/activity?taskId=${id}&type=status_changed`);
    expect(logged.filter(({ actor }: { actor: string }) => actor === 'system:transition-hooks')).toHaveLength(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await receiver.close();
    await another.close();
  });

  test('are not run by an event that is fired by hand', async () => {
    await write({ defaultActions: ['send-notification'] });
    const { id } = await stack.call.createTask({ title: 'Fired' });
    const receiver = await aReceiver();
    const action = { type: 'webhook', url: receiver.url };
    await stack.call.ok('POST', '/api/hooks', { name: 'Notify', event: 'task.status.changed', action });
    await stack.call.ok('POST', '/api/hooks/fire', {
      event: 'task.status.changed',
      taskId: id,
      previousStatus: 'todo',
      newStatus: 'done',
    });
    await eventually(async () =>
      expect(await executions(id)).toMatchObject([{ action: 'webhook', state: 'delivered' }]),
    );
    expect(await notified(id)).toEqual([]);
    await receiver.close();
  });

  test('send nothing that a policy denies, and its execution has the reason', async () => {
    await write({ defaultActions: ['send-notification'] });
    await stack.call.ok('POST', '/api/policies', {
      name: 'Silent',
      scope: { projects: ['silent'] },
      rules: [{ action: 'notification', effect: 'deny' }],
    });
    const id = await done({ project: 'silent' });
    await eventually(async () =>
      expect(await executions(id)).toContainEqual(
        expect.objectContaining({ action: 'send-notification', state: 'blocked' }),
      ),
    );
    expect(await notified(id)).toEqual([]);
  });
});
