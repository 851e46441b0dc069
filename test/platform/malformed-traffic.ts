import { connect } from 'node:net';
import { seededRandom } from '../chaos/random';

/** What is done with a connection once its bytes are sent: reset at once, half closed, or read from and then reset. */
export const endings = ['reset', 'half-close', 'read'] as const;
export interface Attempt {
  bytes: Buffer;
  ending: (typeof endings)[number];
}

const longestReadMs = 250;

const crlf = '\r\n';
const request = (line: string, ...headers: string[]): string => [line, ...headers, '', ''].join(crlf);

const websocket = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** Requests as they should be, to be cut off and changed. */
const wellFormed = (host: string): string[] => [
  request('GET /health HTTP/1.1', `Host: ${host}`),
  request('POST /api/tasks HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', 'Content-Length: 13') +
    '{"title":"a"}',
  request('POST /plants HTTP/1.1', `Host: ${host}`, 'Transfer-Encoding: chunked') +
    `5${crlf}hello${crlf}0${crlf}${crlf}`,
  request('GET /ws HTTP/1.1', `Host: ${host}`, ...websocket) + '\x81\x85\x01\x02\x03\x04abcde',
  request('GET // HTTP/1.1', `Host: ${host}`, ...websocket),
];

/** Targets that are no URL of a server, or name another one. */
export const badTargets = [
  '//',
  '//api/tasks',
  '///',
  '*',
  'http://',
  'http://[::1',
  'http://%',
  'http://elsewhere/api/tasks',
  'http:///',
  '/api/../api',
  '/%2e%2e/',
  '/%',
  '/%zz',
  '/%ff',
  '/%E0%A4%A',
  '/a//b',
  '/a\\b',
  '/#',
];

/** Each target as a plain request and as an upgrade, and everything else that is wrong with a request. */
const malformed = (host: string): string[] => [
  ...badTargets.flatMap((target) => [
    request(`GET ${target} HTTP/1.1`, `Host: ${host}`),
    request(`GET ${target} HTTP/1.1`, `Host: ${host}`, ...websocket),
    request(`POST ${target} HTTP/1.1`, `Host: ${host}`, 'Content-Length: 3') + 'abc',
  ]),
  request('CONNECT example.org:443 HTTP/1.1', 'Host: example.org:443'),
  request('CONNECT // HTTP/1.1', `Host: ${host}`),
  request('OPTIONS * HTTP/1.1', `Host: ${host}`),
  request('GET / HTTP/1.1'),
  request('GET / HTTP/1.1', 'Host:'),
  request('GET / HTTP/1.1', 'Host: a', 'Host: b'),
  request('GET /ws HTTP/1.1', 'Host: a', 'Host: b', ...websocket),
  request('GET / HTTP/1.1', 'Host: a b'),
  request('GET / HTTP/1.1', 'Host: [::1'),
  request('GET / HTTP/1.1', 'Host: a:99999'),
  request('GET / HTTP/1.0'),
  request('GET / HTTP/9.9', `Host: ${host}`),
  request('GET / HTTP/1.1', `Host: ${host}`, 'Expect: wonders'),
  request('POST / HTTP/1.1', `Host: ${host}`, 'Expect: 100-continue', 'Content-Length: 5'),
  request('POST / HTTP/1.1', `Host: ${host}`, 'Content-Length: 1', 'Content-Length: 2') + 'ab',
  request('POST / HTTP/1.1', `Host: ${host}`, 'Content-Length: 5', 'Transfer-Encoding: chunked') + `0${crlf}${crlf}`,
  request('POST / HTTP/1.1', `Host: ${host}`, 'Transfer-Encoding: chunked, identity') + `0${crlf}${crlf}`,
  request('POST / HTTP/1.1', `Host: ${host}`, 'Content-Length: -1'),
  request('POST / HTTP/1.1', `Host: ${host}`, 'Content-Length: 99999999999999999999'),
  request('POST /plants HTTP/1.1', `Host: ${host}`, 'Transfer-Encoding: chunked') + `zz${crlf}`,
  request('POST /plants HTTP/1.1', `Host: ${host}`, 'Transfer-Encoding: chunked') + `5;${'x'.repeat(20_000)}${crlf}`,
  request(`GET /${'a'.repeat(20_000)} HTTP/1.1`, `Host: ${host}`),
  request('GET / HTTP/1.1', `Host: ${host}`, `X: ${'a'.repeat(20_000)}`),
  request('GET / HTTP/1.1', `Host: ${host}`, ...Array.from({ length: 3_000 }, (_, n) => `X${n}: a`)),
  request('GET / HTTP/1.1', `Host: ${host}`, 'X: a\x00b'),
  request('GET / HTTP/1.1', `Host: ${host}`, ' folded: a'),
  request('GET / HTTP/1.1', `Host: ${host}`, 'no colon'),
  request('PRI * HTTP/2.0') + `SM${crlf}${crlf}`,
  request('GET /ws HTTP/1.1', `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket'),
  request('GET /ws HTTP/1.1', `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: h2c'),
  request('POST /ws HTTP/1.1', `Host: ${host}`, ...websocket),
  request('GET /ws?api_key=%zz HTTP/1.1', `Host: ${host}`, ...websocket),
  request('GET /ws HTTP/1.1', `Host: ${host}`, ...websocket) + '\xff'.repeat(200),
  request('GET /ws HTTP/1.1', `Host: ${host}`, ...websocket.slice(0, 3), 'Sec-WebSocket-Key: short'),
  request('GET /ws HTTP/1.1', `Host: ${host}`, ...websocket, 'Sec-WebSocket-Extensions: ;;;=,'),
  request('GET /health HTTP/1.1', `Host: ${host}`).repeat(5) + 'garbage',
  crlf.repeat(50),
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
];

/** Everything that one server is sent: a fixed part, well-formed requests cut off at every other byte, and noise. */
export function malformedAttempts(host: string, seed: number): Attempt[] {
  const fraction = seededRandom(seed);
  const random = (limit: number): number => Math.floor(fraction() * limit);
  const ending = () => endings[random(endings.length)] ?? 'reset';
  const attempt = (bytes: Buffer, how = ending()): Attempt => ({ bytes, ending: how });
  const whole = [...wellFormed(host), ...malformed(host)].map((text) => Buffer.from(text, 'latin1'));
  const fixed = whole.flatMap((bytes) => endings.map((how) => attempt(bytes, how)));
  const cut = wellFormed(host).flatMap((text) =>
    Array.from({ length: Math.floor(text.length / 2) }, (_, n) => attempt(Buffer.from(text.slice(0, 2 * n), 'latin1'))),
  );
  const changed = Array.from({ length: 150 }, () => {
    const bytes = Buffer.from(whole[random(whole.length)] ?? '');
    for (let changes = random(4) + 1; changes > 0; changes -= 1) {
      bytes[random(bytes.length)] = random(256);
    }
    return attempt(bytes);
  });
  const noise = Array.from({ length: 100 }, () =>
    attempt(Buffer.from(Array.from({ length: random(400) }, () => random(256)))),
  );
  return [...fixed, ...cut, ...changed, ...noise];
}

/** Makes one attempt, and returns what came back before the connection ended. */
export function makeAttempt(url: string, { bytes, ending }: Attempt): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const limit = setTimeout(() => socket.resetAndDestroy(), longestReadMs);
    socket.once('connect', () => {
      if (ending === 'half-close') {
        socket.end(bytes);
      } else {
        socket.write(bytes, () => ending === 'reset' && socket.resetAndDestroy());
      }
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      // A refusal, and a response of those here, comes in one piece.
      socket.resetAndDestroy();
    });
    socket.on('end', () => socket.destroy());
    // Reset by the server, or by us.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(limit);
      resolve(received);
    });
  });
}
