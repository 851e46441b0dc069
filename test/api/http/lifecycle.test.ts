import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import Koa from 'koa';
import { errorEnvelope } from '../../../platform/http/error-envelope';
import { requestTimeout } from '../../../platform/http/limits/timeout';
import { ListenError } from '../../../platform/http/server/listen-error';
import { listen, type RunningServer } from '../../../platform/http/server/server';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { startTestApi } from '../api-under-test';
import { rawBytes } from './raw-request';

const log = createLog({ name: 'test-http', level: 'silent' });
const local = { host: '127.0.0.1', port: 0 };

/** A promise and its resolver, to hold a request open for as long as a test needs. */
function gate() {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

describe('the port', () => {
  it('in use is an error that names it and what to do', async () => {
    const taken = await listen((_request, response) => response.end(), local);
    const second = listen(() => undefined, { ...local, port: taken.port, setting: 'PLANTS_PORT' });
    await expect(second).rejects.toThrow(ListenError);
    await expect(second).rejects.toThrow(new RegExp(`Port ${taken.port} on 127\\.0\\.0\\.1 is in use.*PLANTS_PORT`));
    await expect(startTestApi({ BOARD_PORT: String(taken.port) })).rejects.toThrow(/in use.*BOARD_PORT/);
    await taken.close();
  });

  it('of an address that is not ours is an error that names the address', async () => {
    await expect(listen(() => undefined, { host: '203.0.113.1', port: 0 })).rejects.toThrow(
      /203\.0\.113\.1 is not an address/,
    );
  });
});

describe('closing', () => {
  let server: RunningServer;

  it('finishes running requests, with keep-alive connections, and takes no new ones', async () => {
    const hold = gate();
    let running = 0;
    server = await listen((_request, response) => {
      running += 1;
      void hold.passed.then(() => response.end('finished'));
    }, local);
    const held = fetch(server.url, { keepalive: true }).then((response) => response.text());
    await eventually(() => expect(running).toBe(1));
    const closed = server.close();
    await expect(fetch(server.url)).rejects.toThrow();
    hold.open();
    expect(await held).toBe('finished');
    await closed;
  });

  it('does not wait for idle connections', async () => {
    server = await listen((_request, response) => response.end('ok'), local);
    const idle = connect({ port: server.port, host: '127.0.0.1' });
    const gone = new Promise((resolve) => idle.once('close', resolve));
    idle.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    await server.close(60_000);
    await gone;
  });

  it('cuts off what does not finish in time', async () => {
    server = await listen(() => undefined, local);
    const stuck = fetch(server.url).then(
      () => 'answered',
      () => 'cut off',
    );
    await eventually(async () => {
      const connections = await new Promise<number>((resolve) =>
        server.server.getConnections((_error, n) => resolve(n)),
      );
      expect(connections).toBe(1);
    });
    await server.close(50);
    expect(await stuck).toBe('cut off');
  });
});

describe('a connection', () => {
  it('is kept for the next request for longer than proxies and clients keep theirs', async () => {
    const server = await listen((_request, response) => response.end(), local);
    const { headers } = await fetch(server.url);
    expect(headers.get('keep-alive')).toBe('timeout=75');
    await server.close();
  });

  it.each([
    ['nothing', ''],
    ['half of its headers', 'GET / HTTP/1.1\r\nHost: a\r\n'],
    ['half of a handshake', 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'],
  ])('that sends %s is ended when its time is up', async (_case, bytes) => {
    const server = await listen((_request, response) => response.end(), { ...local, headersTimeoutMs: 100 });
    expect(await rawBytes(server.url, bytes)).toMatch(/^HTTP\/1\.1 408 [^]*"code":"REQUEST_TIMEOUT"/);
    await server.close();
  });

  it('whose handler throws, or fails later, gets 500 and the server continues', async () => {
    const server = await listen(({ url }) => {
      if (url === '/later') {
        return Promise.reject(new Error('secret'));
      }
      throw new Error('secret');
    }, local);
    for (const path of ['/', '/later', '/']) {
      const reply = await fetch(server.url + path);
      expect([reply.status, await reply.json()]).toEqual([
        500,
        { error: expect.any(String), code: 'INTERNAL_ERROR', details: {} },
      ]);
    }
    await server.close();
  });
});

describe('a request that takes too long', () => {
  const app = new Koa<{ requestId: string }>();
  const late = gate();
  let server: RunningServer;
  beforeAll(async () => {
    app.use(errorEnvelope(log));
    app.use(requestTimeout({ usual: 100, upload: 300 }, log));
    app.use(async (ctx) => {
      if (ctx.path === '/slow') {
        await late.passed;
      } else {
        for await (const _chunk of ctx.req) {
        }
      }
      if (ctx.path === '/slow') {
        throw new Error('failed after its time');
      }
      ctx.body = 'ok';
    });
    server = await listen(app.callback(), local);
  });
  afterAll(() => server.close(0));

  it('of ours is 503, and its later failure affects no other request', async () => {
    const response = await fetch(`${server.url}/slow`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'REQUEST_TIMEOUT', details: { timeoutMs: 100 } });
    expect(response.headers.get('Retry-After')).toBe('1');
    late.open();
    expect((await fetch(`${server.url}/`)).status).toBe(200);
  });

  const half = (type: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'Content-Length': '10', 'Content-Type': type };
      const sending = request(`${server.url}/`, { method: 'POST', headers }, resolve);
      sending.on('error', reject);
      sending.write('half');
    });

  it('of the caller’s is 408, and its connection ends', async () => {
    const reply = await half('application/json');
    expect([reply.statusCode, reply.headers.connection]).toEqual([408, 'close']);
    const body = JSON.parse((await reply.toArray()).join('')) as unknown;
    expect(body).toMatchObject({ details: { timeoutMs: 100 } });
  });

  it('has more time when it sends files', async () => {
    const reply = await half('multipart/form-data; boundary=x');
    const body = JSON.parse((await reply.toArray()).join('')) as unknown;
    expect([reply.statusCode, body]).toEqual([408, expect.objectContaining({ details: { timeoutMs: 300 } })]);
  });
});
