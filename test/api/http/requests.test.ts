import { gzipSync } from 'node:zlib';
import { adminKey, type ApiUnderTest, startTestApi } from '../api-under-test';
import { rawBytes, type RawRequest, rawRequest } from './raw-request';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const send = async (request: RawRequest) => {
  const reply = await rawRequest(board.url, { ...request, headers: { 'X-API-Key': adminKey, ...request.headers } });
  return { ...reply, body: reply.text ? JSON.parse(reply.text) : undefined };
};
const post = (body: Buffer | string, headers: Record<string, string> = {}) =>
  send({ method: 'POST', path: '/api/tasks', body, headers: { 'Content-Type': 'application/json', ...headers } });

describe('bodies', () => {
  it.each([
    ['cut off', '{"title": "a"'],
    ['not JSON', 'title=a'],
    ['a bare string', '"a"'],
    ['a bare null', 'null'],
    ['for the prototype', '{"title":"a","__proto__":{"admin":true}}'],
    ['for the prototype, further in', '{"title":"a","git":{"__proto__":{"repo":"a"}}}'],
    ['for the prototype, escaped', '{"title":"a","\\u005f_proto__":{"admin":true}}'],
  ])('that are %s are 400', async (_case, body) => {
    const refused = await post(body);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'BAD_REQUEST', details: {} });
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it.each([
    ['a list', '[]'],
    ['empty', ''],
    ['an object with a constructor', '{"title":"a","constructor":{"prototype":{}}}'],
  ])('that are %s are refused field by field', async (_case, body) => {
    const refused = await post(body);
    expect(refused.status).toBe(400);
    expect(refused.body.code).toBe('VALIDATION_ERROR');
  });

  it.each([
    ['announced', { 'Content-Length': String(10 * 1_048_576) }],
    ['unannounced', { 'Transfer-Encoding': 'chunked' }],
  ])('of 10 MiB are 413, %s', async (_case, headers: Record<string, string>) => {
    const refused = await post(Buffer.alloc(10 * 1_048_576, '['), headers);
    expect(refused.status).toBe(413);
    expect(refused.body).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('that unpack to 10 MiB are 413', async () => {
    const refused = await post(gzipSync(Buffer.alloc(10 * 1_048_576, ' ')), { 'Content-Encoding': 'gzip' });
    expect(refused.status).toBe(413);
  });

  it('that are packed are read', async () => {
    const created = await post(gzipSync('{"title":"packed"}'), { 'Content-Encoding': 'gzip' });
    expect([created.status, created.body.title]).toEqual([201, 'packed']);
  });

  it('whose packing is broken or unknown are refused', async () => {
    expect((await post('no gzip', { 'Content-Encoding': 'gzip' })).status).toBe(400);
    expect((await post('{}', { 'Content-Encoding': 'compress' })).status).toBe(415);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'])(
    'of type %s are 415',
    async (type) => {
      const refused = await post('{"title":"a"}', { 'Content-Type': type });
      expect(refused.status).toBe(415);
      expect(refused.body.code).toBe('UNSUPPORTED_MEDIA_TYPE');
    },
  );

  it('that are not UTF-8 are 400, packed or not, and a byte order mark is no part of them', async () => {
    const latin1 = Buffer.from('{"title":"caf\u00e9"}', 'latin1');
    for (const refused of [await post(latin1), await post(gzipSync(latin1), { 'Content-Encoding': 'gzip' })]) {
      expect([refused.status, refused.body.error]).toEqual([400, 'The body is not valid UTF-8.']);
    }
    expect((await post('\ufeff{"title":"caf\u00e9 \ufffd"}')).body.title).toBe('caf\u00e9 \ufffd');
  });

  it('with half of a character are 400 with the path', async () => {
    const refused = await post('{"title":"a","description":"cut \\ud83d"}');
    expect([refused.status, refused.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.details.issues).toMatchObject([{ path: 'description' }]);
    expect((await post('{"title":"\\ud83d\\ude00"}')).body.title).toBe('\ud83d\ude00');
  });

  it.each([
    ['/api/policies/evaluate', (deep: string) => `{"actionType":"x","metadata":${deep}}`, 'metadata.'],
    ['/api/tasks', (deep: string) => `{"title":"a","git":${deep}}`, 'git.'],
    ['/api/tasks', (deep: string) => deep, ''],
  ])('nested thousands deep are 400 with the path: %s', async (path, bodyOf, begin) => {
    for (const [open, close] of [
      ['{"a":', '}'],
      ['[', ']'],
    ] as const) {
      const deep = `${open.repeat(20_000)}1${close.repeat(20_000)}`;
      const headers = { 'Content-Type': 'application/json' };
      const refused = await send({ method: 'POST', path, body: bodyOf(deep), headers });
      expect([refused.status, refused.body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(refused.body.details.issues).toMatchObject([
        { path: expect.stringMatching(`^${begin}`), code: 'too_deep' },
      ]);
    }
  });

  it('of operations that take none are refused unless they are empty', async () => {
    const { id } = (await post('{"title":"moved"}')).body as { id: string };
    const withBody = (method: string, path: string, body: string, type = 'application/json') => {
      const headers = { 'Content-Type': type, 'Content-Length': String(body.length) };
      return send({ method, path: `/api/tasks/${id}${path}`, headers, body });
    };
    expect(await withBody('POST', '/demote', '{"expectedRevision":7}')).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: { issues: [{ path: 'expectedRevision', message: 'unknown field' }] } },
    });
    expect((await withBody('DELETE', '', '{"expectedRevision":7}')).status).toBe(400);
    expect((await withBody('POST', '/demote', '{')).status).toBe(400);
    expect((await withBody('POST', '/demote', 'expectedRevision=7', 'text/plain')).status).toBe(415);
    const { status, body } = await withBody('POST', '/demote', '{}');
    expect([status, body]).toEqual([200, expect.objectContaining({ id, title: 'moved' })]);
    expect((await withBody('DELETE', '', '')).status).toBe(204);
  });

  it('with a hundred thousand mistakes are answered shortly', async () => {
    const items = `[${Array<string>(100_000).fill('0').join(',')}]`;
    const refused = await post(`{"title":"a","subtasks":${items}}`);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues.length).toBeLessThanOrEqual(50);
  });

  it('nested very deeply are refused', async () => {
    const refused = await post(`{"title":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
    expect(refused.status).toBe(400);
  });
});

describe('ids', () => {
  it.each([
    ['a parent directory', '..%2f..%2fetc%2fpasswd'],
    ['a parent directory in an id', 'task_..%2F..%2Fx'],
    ['NUL', 'task_20260101_a%00b'],
    ['300 characters', `task_${'a'.repeat(300)}`],
    ['broken encoding', 'task_%E0%A4%A'],
    ['a line break', 'task_a%0d%0aX-Evil:1'],
    ['nothing but encoding', '%'],
  ])('with %s are 400 or 404', async (_case, id) => {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const refused = await send({ method, path: `/api/tasks/${id}`, headers: { 'Content-Type': 'application/json' } });
      expect([400, 404]).toContain(refused.status);
      expect(refused.headers['x-evil']).toBeUndefined();
    }
  });

  it('that leave the path are refused', async () => {
    expect((await send({ path: '/api/tasks/../../../etc/passwd' })).status).toBe(400);
  });
});

describe('paths and methods', () => {
  it.each(['/api/nowhere', '/nowhere', '/api/v1/nowhere', '/api/v2/tasks', '/api/v1x/tasks'])(
    '%s is 404 in JSON',
    async (path) => {
      const missing = await send({ path });
      expect(missing.status).toBe(404);
      expect(missing.body).toMatchObject({ code: 'NOT_FOUND', details: {} });
      expect(missing.headers['content-type']).toContain('application/json');
    },
  );

  it.each(['//', '//api/tasks', '/api//tasks', '/api/tasks//', '/api/./tasks', '/api/%2e%2e/tasks', '*'])(
    '%s is 400 in the envelope',
    async (path) => {
      const refused = await send({ path });
      expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );

  it.each(['/API/tasks', '/api/TASKS', '/Health'])('%s is another path in another letter case: 404', async (path) => {
    expect((await send({ path })).status).toBe(404);
  });

  it.each(['/api/tasks/', '/%61pi/tasks', '/api/v1/t%61sks'])('%s is the same as /api/tasks', async (path) => {
    expect((await send({ path })).body).toEqual((await send({ path: '/api/tasks' })).body);
  });

  it('a method a path does not take is 405 with an Allow header', async () => {
    const refused = await send({ method: 'PUT', path: '/api/tasks' });
    expect(refused.status).toBe(405);
    expect(refused.headers.allow).toBe('GET, HEAD, POST, OPTIONS');
    expect(refused.body.code).toBe('METHOD_NOT_ALLOWED');
  });

  it('methods that no route takes are 405, or 404 where there is nothing', async () => {
    expect((await send({ method: 'PROPFIND', path: '/api/tasks' })).status).toBe(405);
    expect((await send({ method: 'PROPFIND', path: '/api/nowhere' })).status).toBe(404);
  });

  it('OPTIONS lists what a path takes', async () => {
    const options = await send({ method: 'OPTIONS', path: '/api/tasks/task_1' });
    expect(options.status).toBe(204);
    expect(options.headers.allow).toBe('DELETE, GET, HEAD, PATCH, OPTIONS');
  });

  it('HEAD is GET without the body', async () => {
    const get = await send({ path: '/api/tasks' });
    const head = await send({ method: 'HEAD', path: '/api/tasks' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.headers.etag).toBe(get.headers.etag);
  });

  it('/api/v1 is the same service', async () => {
    const created = await board.call('POST', '/api/v1/tasks', { body: { title: 'by v1' } });
    expect(created.status).toBe(201);
    const read = await board.call('GET', `/api/tasks/${created.body.id}`);
    expect(read.body).toEqual(created.body);
    expect((await board.call('GET', '/api/v1/tasks?limit=1')).body.tasks).toHaveLength(1);
    expect((await board.call('GET', '/api/v1/health')).body.ok).toBe(true);
  });
});

describe('every answer', () => {
  it('carries the headers of the service', async () => {
    for (const path of ['/api/tasks', '/api/nowhere', '/health']) {
      const { headers } = await send({ path });
      expect(headers).toMatchObject({
        'x-api-version': 'v1',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers['x-powered-by']).toBeUndefined();
    }
  });

  it('carries the id of its request, the caller’s own when it is safe', async () => {
    expect((await send({ path: '/health', headers: { 'X-Request-ID': 'abc-1.2:3_4' } })).headers['x-request-id']).toBe(
      'abc-1.2:3_4',
    );
    for (const unsafe of ['a b', 'x'.repeat(129), '<b>', 'a"b']) {
      const { headers } = await send({ path: '/health', headers: { 'X-Request-ID': unsafe } });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it.each(['X-API-Version', 'Accept-Version'])('is of v1, and 400 when %s asks for another', async (header) => {
    expect((await send({ path: '/api/tasks', headers: { [header]: 'v1' } })).status).toBe(200);
    const refused = await send({ path: '/api/tasks', headers: { [header]: 'v2' } });
    expect(refused.status).toBe(400);
    expect(refused.body.details).toEqual({ supported: ['v1'] });
  });
});

describe('pages in a browser', () => {
  it('of an allowed origin may call', async () => {
    const origin = 'http://localhost:5173';
    const preflight = await send({
      method: 'OPTIONS',
      path: '/api/tasks',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' });
    expect(preflight.headers['access-control-allow-methods']).toContain('POST');
    expect((await post('{"title":"a"}', { Origin: origin })).status).toBe(201);
    const exposed = String(preflight.headers['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(
      expect.arrayContaining(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']),
    );
    expect(exposed).toEqual(expect.arrayContaining(['Retry-After', 'X-Board-Task-Identity-Conflicts', 'ETag']));
  });

  it('of another origin may neither write nor read', async () => {
    const refused = await post('{"title":"a"}', { Origin: 'https://evil.example' });
    expect([refused.status, refused.body.code]).toEqual([403, 'CORS_REJECTED']);
    const read = await send({ path: '/api/tasks', headers: { Origin: 'https://evil.example' } });
    expect([read.status, read.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    expect((await post('{"title":"a"}', { Origin: 'null' })).status).toBe(403);
    const rebound = { Host: 'evil.example', Origin: 'http://evil.example' };
    expect((await post('{"title":"a"}', rebound)).status).toBe(403);
  });
});

describe('connections', () => {
  it.each([
    ['that is no HTTP', 'hello\r\n\r\n'],
    ['with two lengths', 'POST /api/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'with a length and chunks',
      'POST /api/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['with two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['without a host', 'GET / HTTP/1.1\r\n\r\n'],
    ['with a host that is none', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['to a port beyond all', 'GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n'],
    ['that ask for a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n'],
    ['to another server', 'GET http://elsewhere/api/tasks HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['that expect something', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n'],
    ['with headers of 20 KiB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_480)}\r\n\r\n`],
  ])('%s end with a refusal', async (_case, bytes) => {
    const reply = await rawBytes(board.url, bytes);
    expect(reply).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(JSON.parse(reply.slice(reply.indexOf('\r\n\r\n')))).toEqual({
      error: expect.any(String),
      code: expect.any(String),
      details: {},
    });
    expect((await board.call('GET', '/health')).status).toBe(200);
  });
});
