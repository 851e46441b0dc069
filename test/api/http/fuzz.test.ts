import fc from 'fast-check';
import { adminKey, type ApiUnderTest, startTestApi } from '../api-under-test';
import { rawRequest } from './raw-request';

let board: ApiUnderTest;
let taskId: string;
describe('random requests', () => {
  beforeAll(async () => {
    board = await startTestApi();
    taskId = (await board.call('POST', '/api/tasks', { body: { title: 'target' } })).body.id as string;
  });
  afterAll(() => board.close());

  const fields = [
    'title',
    'description',
    'status',
    'type',
    'git',
    'github',
    'subtasks',
    'blockedReason',
    'position',
    'agent',
    'content',
    'section',
    'state',
  ];
  const almostTask = fc.dictionary(
    fc.oneof(
      fc.constantFrom(...fields, 'agents', 'path', 'name', 'expectedRevision', 'constructor', 'toString'),
      fc.string(),
    ),
    fc.oneof(fc.jsonValue(), fc.constantFrom('todo', 'blocked', '\ud800', '\u0000', '---\n', '# x\n---\n', 1e308, -0)),
    { maxKeys: 8 },
  );
  const text = fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    almostTask.map((value) => JSON.stringify({ title: 'a title', ...value })),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );
  /** Bytes node lets into a header: no line breaks, nothing above Latin-1. */
  const headerValue = fc.string({ maxLength: 60 }).map((value) => value.replace(/[^\x20-\x7e\x80-\xff]/g, ''));
  const headerName = fc.constantFrom(
    'If-Match',
    'If-None-Match',
    'X-Resource-Revision',
    'X-Request-ID',
    'X-API-Version',
    'Accept-Version',
    'Authorization',
    'X-API-Key',
    'Content-Type',
    'Content-Encoding',
    'Origin',
    'Host',
    'Accept',
    'Access-Control-Request-Method',
    'X-Forwarded-For',
  );
  const headers = fc.dictionary(headerName, headerValue, { maxKeys: 4 });
  const segment = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }).map((value) => encodeURIComponent(Buffer.from(value).toString())),
    headerValue,
  );
  const path = fc.oneof(
    fc.constantFrom(
      '/api/tasks',
      '/api/config/agents',
      '/api/config/repos',
      '/api/config/default-agent',
      '/api/v1/tasks',
    ),
    segment.map((part) => `/api/tasks/${part}`),
    segment.map((part) => `/api/config/repos/${part}`),
    fc.tuple(segment, segment).map(([name, value]) => `/api/tasks?${name}=${value}`),
    fc.array(segment, { maxLength: 3 }).map((parts) => `/${parts.join('/')}`),
  );
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');

  /** Every refusal is our own: below 500, and in the envelope. */
  async function expectSane(request: Parameters<typeof rawRequest>[1]): Promise<void> {
    const reply = await rawRequest(board.url, request);
    if (reply.status >= 500) {
      throw new Error(`${reply.status} ${reply.text}`);
    }
    if (reply.status >= 400 && reply.text !== '') {
      expect(JSON.parse(reply.text)).toEqual({
        error: expect.any(String),
        code: expect.any(String),
        details: expect.any(Object),
      });
    }
  }

  const runs = { numRuns: 250, interruptAfterTimeLimit: 20_000 };

  it('answers whatever body it is sent', async () => {
    const target = fc.constantFrom<[string, string][]>(
      ['POST', '/api/tasks'],
      ['PUT', '/api/config/agents'],
      ['PUT', '/api/config/default-agent'],
      ['POST', '/api/config/repos'],
      ['POST', 'subtasks'],
      ['POST', 'verification'],
      ['POST', 'deliverables'],
      ['POST', 'observations'],
      ['POST', 'progress/append'],
      ['POST', 'checkpoint'],
    );
    const request = fc.tuple(fc.oneof(target, fc.constant<[string, string]>(['PATCH', ''])), text);
    await fc.assert(
      fc.asyncProperty(request, ([[verb, where], body]) =>
        expectSane({
          method: verb,
          path: where.startsWith('/') ? where : `/api/tasks/${taskId}/${where}`.replace(/\/$/, ''),
          headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
          body,
        }),
      ),
      runs,
    );
  });

  it('answers whatever path, method and headers it is sent', async () => {
    await fc.assert(
      fc.asyncProperty(method, path, headers, text, async (verb, where, extra, body) => {
        const withBody = verb === 'POST' || verb === 'PUT' || verb === 'PATCH';
        const clean = where.replace(/[^\x21-\x7e]/g, '');
        await expectSane({
          method: verb,
          path: clean || '/',
          headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json', ...extra },
          ...(withBody ? { body } : {}),
        });
      }),
      runs,
    );
    expect((await board.call('GET', '/health/ready')).status).toBe(200);
  });
});
