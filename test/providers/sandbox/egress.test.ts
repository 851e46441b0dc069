import { createServer, type Server } from 'node:http';
import { request } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { EgressLog } from '../../../providers/sandbox/egress-log';
import { startEgressProxy } from '../../../providers/sandbox/egress-proxy';
import { aPreset } from '../../support/factories/contract';
import { aSandbox } from './sandbox-fixture';

let box: Awaited<ReturnType<typeof aSandbox>>;
let server: Server;
let port: number;
const seen: string[] = [];
beforeEach(async () => {
  box = await aSandbox();
  seen.length = 0;
  server = createServer((asked, response) => {
    seen.push(`${asked.method} ${asked.headers.host} ${asked.url}`);
    response.end('reached');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  await new Promise((done) => server.close(done));
  await box.remove();
});

/** A client for sandboxes: asks for a URL directly, by the proxy in plain HTTP, or through a tunnel. */
const client = `
const http = require('node:http'), net = require('node:net');
const [how, target] = process.argv.slice(1);
const url = new URL(target);
const done = (text) => { console.log(how + ' ' + text); process.exit(0); };
const proxy = process.env.HTTP_PROXY && new URL(process.env.HTTP_PROXY);
if (how === 'direct') http.get({ host: url.hostname, port: url.port, path: url.pathname, agent: false }, (r) => done(r.statusCode)).on('error', (e) => done(e.code));
if (how === 'proxied') http.get({ host: proxy.hostname, port: proxy.port, path: target, headers: { host: url.host } }, (r) => done(r.statusCode)).on('error', (e) => done(e.code));
if (how === 'tunnel') http.request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: url.hostname + ':' + url.port }).on('connect', (r) => done(r.statusCode)).on('error', (e) => done(e.code)).end();
if (how === 'abstract') net.connect('\\0' + target.slice(7)).on('connect', () => done('connected')).on('error', (e) => done(e.code));
`;

async function ask(preset: object, ...requests: string[]): Promise<string[]> {
  const lines = requests.map((each) => `"$1" -e "$2" -- ${each}`).join('\n');
  const { out, err } = await box.run(preset, lines, {
    args: [process.execPath, client],
  });
  return [out, err].join('\n').trim().split('\n');
}

const network = (fields: object) => ({ network: fields });

describe('the network of a sandbox', () => {
  test('is not there when nothing is allowed', async () => {
    expect(await ask(network({ defaultEgress: 'deny' }), `direct http://127.0.0.1:${port}/`)).toEqual([
      'direct ECONNREFUSED',
    ]);
    expect(seen).toEqual([]);
  });

  test('reaches no socket of the host, also none without a file', async () => {
    const name = `runboard-test-${process.pid}`;
    const host = createSocketServer((socket) => socket.end());
    await new Promise<void>((done) => host.listen(`\0${name}`, done));
    try {
      expect(await ask(network({ defaultEgress: 'deny' }), `abstract http://${name}`)).toEqual([
        'abstract ECONNREFUSED',
      ]);
    } finally {
      await new Promise((done) => host.close(done));
    }
  });

  test('reaches what is allowed by the proxy, and nothing directly', async () => {
    const preset = network({ defaultEgress: 'deny', allowedHosts: [`127.0.0.1:${port}`] });
    const here = `http://127.0.0.1:${port}/x`;
    expect(
      await ask(
        preset,
        `direct ${here}`,
        `proxied ${here}`,
        `tunnel ${here}`,
        `proxied http://localhost:${port}/`,
        'tunnel http://example.org:443',
      ),
    ).toEqual(['direct ECONNREFUSED', 'proxied 200', 'tunnel 200', 'proxied 403', 'tunnel 403']);
    expect(seen).toEqual([`GET 127.0.0.1:${port} /x`]);
  });

  test('records what leaves it, once for each destination', async () => {
    const preset = network({ defaultEgress: 'deny', allowedHosts: [`127.0.0.1:${port}`] });
    const { sink, outcome } = await box.run(
      preset,
      [1, 2]
        .map(
          () => `"$1" -e "$2" -- proxied http://127.0.0.1:${port}/x; "$1" -e "$2" -- tunnel http://blocked.example:443`,
        )
        .join('\n'),
      { args: [process.execPath, client] },
    );
    const events = sink.events.filter(({ payload }) => payload.name === 'network.egress').map(({ payload }) => payload);
    expect(events).toEqual([
      { name: 'network.egress', toolKind: 'fetch', status: 'completed', host: '127.0.0.1', port, rule: 'allowedHosts' },
      {
        name: 'network.egress',
        toolKind: 'fetch',
        status: 'refused',
        host: 'blocked.example',
        port: 443,
        rule: 'allowedHosts',
      },
    ]);
    expect(outcome.sandbox).toMatchObject({ network: 'proxy', egress: { allowed: 2, denied: 2 } });
  });

  test('reaches no address that is blocked, by whatever name', async () => {
    const preset = network({ blockLoopback: true, blockMetadataEndpoints: true, blockPrivateNetwork: true });
    const answers = await ask(
      preset,
      ...[
        `127.0.0.1:${port}`,
        `localhost:${port}`,
        `[::ffff:127.0.0.1]:${port}`,
        `0.0.0.0:${port}`,
        `2130706433:${port}`,
        '169.254.169.254',
        '10.0.0.1:80',
        '[fd00:ec2::254]:80',
      ].map((authority) => `proxied http://${authority}/`),
    );
    expect(answers).toEqual(Array.from({ length: 8 }, () => 'proxied 403'));
    expect(seen).toEqual([]);
  });
});

describe('the proxy of a sandbox', () => {
  async function throughProxy(preset: object, resolve: (host: string) => string[], url: string, method = 'GET') {
    const directory = await makeTempDir('egress');
    const log = new EgressLog(() => undefined);
    const close = await startEgressProxy({
      directory: join(directory.path, 'net'),
      policy: { network: aPreset({ network: preset }).network, exceptions: [] },
      log,
      resolve: (host) => Promise.resolve(resolve(host)),
    });
    try {
      return await new Promise<{ status: number | undefined; text: string }>((done, failed) => {
        const asked = request(
          { socketPath: join(directory.path, 'net', 'proxy'), path: url, method, headers: { host: 'other.example' } },
          (answer) => {
            let text = '';
            answer
              .on('data', (piece: Buffer) => (text += piece.toString()))
              .on('error', failed)
              .on('end', () => done({ status: answer.statusCode, text }));
          },
        );
        asked.on('error', failed).end();
      });
    } finally {
      await close({ keepsDirectory: false });
      await directory.remove();
    }
  }

  test('judges the address of a name, and connects to that address', async () => {
    let asked = 0;
    const rebinding = () => [(asked += 1) === 1 ? '127.0.0.1' : '169.254.169.254'];
    const allowed = { defaultEgress: 'deny', allowedHosts: [`app.example:${port}`], blockMetadataEndpoints: true };
    expect(await throughProxy(allowed, rebinding, `http://app.example:${port}/a`)).toEqual({
      status: 200,
      text: 'reached',
    });
    expect(asked).toBe(1);
    expect(seen).toEqual([`GET app.example:${port} /a`]);
    expect(await throughProxy(allowed, rebinding, `http://app.example:${port}/a`)).toMatchObject({
      status: 403,
      text: expect.stringContaining('blockMetadataEndpoints'),
    });
    const mixed = () => ['127.0.0.1', '10.1.2.3'];
    expect(
      await throughProxy({ ...allowed, blockPrivateNetwork: true }, mixed, `http://app.example:${port}/a`),
    ).toMatchObject({ status: 403 });
  });

  test.each([
    ['a status that is none', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'],
    ['no response', 'nonsense\r\n\r\n'],
    ['a response without its end', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'],
  ])('survives a server that answers with %s', async (_name, answer) => {
    const odd = createSocketServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(answer));
    });
    await new Promise<void>((listening) => odd.listen(0, '127.0.0.1', listening));
    const { port: oddPort } = odd.address() as AddressInfo;
    const allowed = { defaultEgress: 'deny', allowedHosts: [`app.example:${oddPort}`] };
    const answered = throughProxy(allowed, () => ['127.0.0.1'], `http://app.example:${oddPort}/`);
    expect([502, 'ECONNRESET']).toContain(
      await answered.then(
        ({ status }) => status,
        (error: unknown) => (error as { code: string }).code,
      ),
    );
    await new Promise((closed) => odd.close(closed));
  });

  test('limits methods and paths of requests in plain HTTP', async () => {
    const preset = {
      defaultEgress: 'deny',
      allowedHosts: [`app.example:${port}`],
      allowedMethods: ['GET'],
      allowedPathPrefixes: ['/v1'],
    };
    const here = () => ['127.0.0.1'];
    const statuses = [];
    for (const [path, method] of [
      ['/v1/a', 'GET'],
      ['/v1', 'GET'],
      ['/v1/a', 'POST'],
      ['/v10', 'GET'],
      ['/v1/../admin', 'GET'],
      ['/v1/%2e%2e/admin', 'GET'],
    ] as const) {
      statuses.push((await throughProxy(preset, here, `http://app.example:${port}${path}`, method)).status);
    }
    expect(statuses).toEqual([200, 200, 403, 403, 403, 403]);
  });
});
