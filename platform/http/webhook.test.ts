import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookSender } from './webhook';

const send = (url: string, allowPrivate: boolean) =>
  createWebhookSender({ secret: undefined, allowPrivate, timeoutMs: 2_000 }).send(new URL(url), {
    id: 'one',
    at: new Date(),
    body: '{}',
  });

describe('a webhook', () => {
  it.each(['169.254.169.254', '[::ffff:169.254.169.254]', '[fe80::1]'])(
    'is never sent to %s, where clouds serve credentials',
    async (host) => {
      for (const allowPrivate of [true, false]) {
        expect(await send(`http://${host}/latest`, allowPrivate)).toMatchObject({ forbidden: true });
      }
    },
  );

  it('is sent to this machine only where private addresses are allowed', async () => {
    const server = createServer((request, response) => request.resume().on('end', () => response.end()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(await send(`http://${host}:${port}/`, true)).toEqual({ status: 200 });
      expect(await send(`http://${host}:${port}/`, false)).toMatchObject({ forbidden: true });
    }
    await new Promise((resolve) => server.close(resolve));
  });
});
