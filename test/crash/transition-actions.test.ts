import { aReceiver, type Received } from '../services/receiver';
import { persistently } from '../support/processes/persistently';
import { killPart, type Service, startService } from '../support/stack/service';

const parts = ['worker', 'api'] as const;

describe('kill -9 while the actions of a transition rule are run', () => {
  let service: Service;
  let receiver: { url: string; received: Received[]; close(): Promise<void> };
  /** What is done while the first webhook of a case is received. */
  let onReceived: () => void;

  beforeAll(async () => {
    receiver = await aReceiver(() => {
      onReceived();
      return 200;
    });
    service = await startService({ BOARD_WEBHOOK_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '50' });
    const actions = [{ type: 'send-webhook', url: receiver.url }, 'send-notification', 'log-activity'];
    const rules = [{ id: 'all', name: 'All', from: '*', to: 'done', actions }];
    await service.call.ok('PUT', '/api/settings/transition-hooks', { enabled: true, rules });
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });

  const ofTask = (id: string) => receiver.received.filter(({ body }) => body.includes(id));

  /** Expects that every action was done once; a webhook is sent again under the same id. */
  async function expectOnce(id: string): Promise<void> {
    await persistently(async () => {
      const executions = await service.call.ok('GET', `/api/hooks/executions?taskId=${id}`);
      expect(executions.filter(({ state }: { state: string }) => state === 'delivered')).toHaveLength(3);
    });
    expect(await service.call.ok('GET', `/api/notifications?taskId=${id}`)).toHaveLength(1);
    const logged = await service.call.ok('GET', `/api/activity?taskId=${id}&type=status_changed`);
    expect(logged.filter(({ actor }: { actor: string }) => actor === 'system:transition-hooks')).toHaveLength(1);
    expect(new Set(ofTask(id).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  }

  it.each(parts)('of the %s, each is done once', async (part) => {
    const { id } = await service.call.createTask({ title: 'Killed' });
    let kills = 0;
    onReceived = () => {
      kills += 1;
      if (kills === 1) {
        killPart(service, part);
      }
    };
    await service.call.ok('PATCH', `/api/tasks/${id}`, { status: 'done' });
    await persistently(async () => expect(ofTask(id).length).toBeGreaterThan(0));
    await expectOnce(id);
    expect(kills).toBeGreaterThan(part === 'worker' ? 1 : 0);
  });

  it('of the api right after it has answered the change, each is done once', async () => {
    const { id } = await service.call.createTask({ title: 'Killed at once' });
    onReceived = () => undefined;
    await service.call.ok('PATCH', `/api/tasks/${id}`, { status: 'done' });
    killPart(service, 'api');
    await expectOnce(id);
  });
});
