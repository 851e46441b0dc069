import { rawRequest } from '../../api/http/raw-request';
import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
afterEach(() => server.remove());

const open = async (token?: string, maxAuthFailures = 0) =>
  (server = await serverUnderTest({ maxAuthFailures, ...(token === undefined ? {} : { token }) }));

/** Each kind of request that there is: a plain query, which passes by the middleware, another one, and a description. */
const paths = ['/index/q/query', '/index/q/query?columnAttrs=true', '/index/q'];
const post = (path: string, headers: Record<string, string>) =>
  rawRequest(server.url, { method: 'POST', path, headers: { 'Content-Length': '0', ...headers } });

describe('without a token', () => {
  it.each<[string, number, Record<string, string>]>([
    ['came by another name', 403, { Host: 'evil.example' }],
    ['came by another name with our port', 403, { Host: 'evil.example:10101' }],
    ['is of a page', 403, { Origin: 'https://evil.example' }],
    ['is of a page of this machine', 403, { Origin: 'http://localhost:5173' }],
    ['is of a page without an origin', 403, { Origin: 'null' }],
    ['is of another site', 403, { 'Sec-Fetch-Site': 'cross-site' }],
    ['came through a proxy', 403, { 'X-Real-IP': '203.0.113.9' }],
    ['is a form', 415, { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['is a form with files', 415, { 'Content-Type': 'multipart/form-data; boundary=x' }],
  ])('a request that %s is %i, be it a write or a read', async (_case, status, headers) => {
    await open();
    for (const path of paths) {
      expect([path, (await post(path, headers)).status]).toEqual([path, status]);
    }
    expect((await rawRequest(server.url, { path: '/schema', headers })).status).toBe(status);
    expect((await rawRequest(server.url, { path: '/schema' })).text).toBe('{"indexes":[]}\n');
  });

  it.each(['application/json', 'application/x-protobuf', 'application/protobuf', 'text/plain;charset=UTF-8'])(
    'what clients send is taken: %s',
    async (type) => {
      await open();
      expect((await post('/index/q', { 'Content-Type': type })).status).toBe(200);
      expect((await post('/index/r', {})).status).toBe(200);
      for (const Host of ['localhost', '[::1]']) {
        const headers = { Host: `${Host}:${new URL(server.url).port}` };
        expect((await rawRequest(server.url, { path: '/schema', headers })).status).toBe(200);
      }
    },
  );
});

describe('with a token', () => {
  it('every name is served, and every type of body', async () => {
    await open('the-token-of-this-test-00');
    const headers = { Authorization: 'Bearer the-token-of-this-test-00', Host: 'bitmap.example' };
    expect((await post('/index/q', headers)).status).toBe(200);
    expect((await post('/index/q/query', { ...headers, 'Content-Type': 'x/y' })).status).toBe(200);
  });

  it('failures are limited by address, valid tokens are not', async () => {
    await open('the-token-of-this-test-00', 3);
    const guess = (path: string) => post(path, { Authorization: 'Bearer a-guess' });
    for (const path of paths) {
      expect((await guess(path)).status).toBe(401);
    }
    for (const path of paths) {
      const refused = await guess(path);
      expect(refused.status).toBe(429);
      expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'retry-after': expect.any(String) });
    }
    expect((await post('/index/q', { Authorization: 'Bearer the-token-of-this-test-00' })).status).toBe(200);
    expect((await rawRequest(server.url, { path: '/health' })).status).toBe(200);
  });
});
