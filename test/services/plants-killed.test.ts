import { eventually } from '../../platform/testing/eventually';
import { killPart, type Service, soonAgain, startService } from '../support/stack/service';
import { aReceiver } from './receiver';

const plants = 12;

describe('plant store after kills', () => {
  test('a plant that was stored is announced, whatever is killed in between', async () => {
    // No receiver accepts a delivery before the killing is over.
    let open = false;
    const receiver = await aReceiver(() => (open ? 200 : 503));
    let service: Service | undefined;
    try {
      service = await startService(
        {
          PLANTS_PORT: '0',
          PLANTS_TOKENS: 'ann:the-token-of-ann-0000000',
          PLANTS_WEBHOOK_URLS: receiver.url,
          PLANTS_WEBHOOK_ALLOW_PRIVATE: 'true',
        },
        { services: ['plants'], restart: soonAgain },
      );
      const running = service;
      const { serviceUrls } = running;
      const kill = (): boolean => killPart(running, 'plants');
      const call = async (method: string, body?: string): Promise<Response> =>
        fetch(`${serviceUrls.plants}/plants`, {
          method,
          headers: { authorization: 'Bearer the-token-of-ann-0000000', 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body }),
        });
      for (let id = 1; id <= plants; id += 1) {
        if (id % 4 === 0) {
          kill();
        }
        // A number that is taken is one that an unanswered try has stored.
        await eventually(
          async () => {
            const { status } = await call('POST', `{"id":${id},"name":"Fern"}`);
            expect([200, 400]).toContain(status);
          },
          { everyMs: 200 },
        );
      }
      await eventually(async () => expect(receiver.received.length).toBeGreaterThan(0));
      kill();
      open = true;
      const refused = receiver.received.length;
      await eventually(
        async () => {
          const reported = receiver.received.slice(refused).map(({ body }) => (JSON.parse(body) as { id: number }).id);
          expect(reported.sort((a, b) => a - b)).toEqual(Array.from({ length: plants }, (_, index) => index + 1));
        },
        { everyMs: 200 },
      );
      expect(await (await call('GET')).json()).toHaveLength(plants);
    } finally {
      await service?.close();
      await receiver.close();
    }
  });
});
