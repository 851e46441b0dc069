import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import {
  portsBlockedByBrowsers,
  privateUiAddress,
  type SocketAddress,
} from '../../../platform/temporal/embedded/private-ui-address';
import { startUiProxy, type UiProxy } from '../../../platform/temporal/embedded/ui-proxy';
import { eventually } from '../../../platform/testing/eventually';
import { sendRequest } from '../../support/http-request';

let address: SocketAddress | undefined;
let upstream: Server;
let proxy: UiProxy;
const seen: string[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  address = await privateUiAddress();
  upstream = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(address.port, address.host);
  await once(upstream, 'listening');
  proxy = await startUiProxy({ port: 0, target: () => address });
});

afterAll(async () => {
  await proxy.close();
  upstream.close();
});

beforeEach(() => {
  seen.length = 0;
  answer = (_request, response) => response.end('the ui');
});

const send = (headers: Record<string, string> = {}, options: { method?: string; body?: string } = {}) =>
  sendRequest({ url: `${proxy.url}/api/v1/namespaces`, headers, ...options });

describe('the proxy of the Temporal UI', () => {
  test.each([
    ['a program', {}],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['a page of the UI', { 'sec-fetch-site': 'same-origin', origin: 'SELF' }],
  ])('serves %s', async (_who, headers) => {
    const filled = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === 'SELF' ? proxy.url : value]),
    );
    expect(await send(filled)).toEqual({ status: 200, text: 'the ui' });
    expect((await send({ host: `localhost:${proxy.port}` })).status).toBe(200);
  });

  test.each([
    ['a name that was rebound to this machine', { host: 'attacker.example' }],
    ['such a name with the port', { host: 'attacker.example:PORT' }],
    ['another port of this machine', { host: '127.0.0.1:1' }],
    ['no port', { host: 'localhost' }],
    ['a page on the web', { origin: 'https://attacker.example' }],
    ['a page of another server on this machine', { origin: 'http://127.0.0.1:1' }],
    ['an opaque origin', { origin: 'null' }],
    ['a cross-site request without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }],
  ])('refuses %s, on reads as on writes', async (_who, headers) => {
    const filled = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', String(proxy.port))]),
    );
    expect((await send(filled)).status).toBe(403);
    expect((await send({ ...filled, 'content-type': 'text/plain' }, { method: 'POST', body: '{}' })).status).toBe(403);
    expect(seen).toEqual([]);
  });

  test('refuses a target that is another URL, and upgrades', async () => {
    expect(await sendRequest({ url: proxy.url, target: 'http://attacker.example/' })).toMatchObject({ status: 400 });
    const socket = connect(proxy.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `GET / HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await once(socket, 'close');
    expect(seen).toEqual([]);
  });

  test('streams requests and responses, and ends with its caller', async () => {
    const events: string[] = [];
    answer = (request, response) => {
      response.once('close', () => events.push('caller left'));
      request.on('data', (chunk: Buffer) => response.write(chunk));
    };
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(`POST /x HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nContent-Length: 100\r\n\r\nfirst`);
    await eventually(async () => {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      expect(String(chunk)).toContain('first');
    });
    socket.destroy();
    await eventually(() => expect(events).toEqual(['caller left']));
  });

  test('reports it while the UI does not run', async () => {
    const down = address;
    address = undefined;
    expect((await send()).status).toBe(502);
    address = { ...down!, port: 1 };
    expect((await send()).status).toBe(502);
    address = down;
  });
});

test('no browser connects to where the UI itself listens', async () => {
  const { host, port } = address!;
  expect(portsBlockedByBrowsers).toContain(port);
  await expect(fetch(`http://${host}:${port}/`)).rejects.toMatchObject({ cause: { message: 'bad port' } });
  for (const blocked of portsBlockedByBrowsers) {
    await expect(fetch(`http://127.0.0.1:${blocked}/`)).rejects.toMatchObject({ cause: { message: 'bad port' } });
  }
});
