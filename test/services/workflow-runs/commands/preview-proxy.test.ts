import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { startPreviewProxy } from '../../../../services/workflow-runs/previews/proxy';

const token = '0'.repeat(48);

describe('a preview whose program does not listen yet', () => {
  let closing: Server;
  let proxy: Awaited<ReturnType<typeof startPreviewProxy>>;

  /** As the relay in a sandbox, which accepts a connection before it finds nothing on the port of the program. */
  async function connectInVain(): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: (closing.address() as AddressInfo).port });
    await once(socket, 'close');
    return socket;
  }

  beforeAll(async () => {
    closing = createServer((client) => client.destroy()).listen({ host: '127.0.0.1', port: 0 });
    await once(closing, 'listening');
    const target = { port: 8000, connect: connectInVain, connections: new Set<Socket>() };
    proxy = await startPreviewProxy(0, (asked) => (asked === token ? target : undefined));
  });
  afterAll(async () => {
    await proxy.close();
    closing.close();
  });

  const ask = (headers: Record<string, string>) =>
    request({ host: '127.0.0.1', port: proxy.port, agent: false, headers: { host: `${token}.localhost`, ...headers } });

  it('is a 502 when the connection to it ended before the request is passed on', async () => {
    const sent = ask({});
    sent.end();
    const [{ statusCode }] = await once(sent, 'response');
    expect(statusCode).toBe(502);
  });

  it('ends a WebSocket', async () => {
    const sent = ask({ connection: 'Upgrade', upgrade: 'websocket' });
    sent.end();
    await expect(once(sent, 'upgrade')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
