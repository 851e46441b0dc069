import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { adminKey, type ApiUnderTest, startTestApi } from '../api-under-test';

const throughProxy = { 'X-Forwarded-For': '203.0.113.5' };
const acceptsGzip = { 'Accept-Encoding': 'br;q=1.0, gzip;q=0.8' };

describe('a response to a caller elsewhere', () => {
  let board: ApiUnderTest;
  let taskId: string;
  beforeAll(async () => {
    board = await startTestApi();
    const description = 'What is wanted, and why. '.repeat(1_000);
    taskId = (await board.call('POST', '/api/tasks', { body: { title: 'Long', description } })).body.id;
  });
  afterAll(() => board.close());

  /** Its bytes as they were sent: `fetch` would decompress them. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>(
      (resolve, reject) => {
        const options = { method, agent: false as const, headers: { 'X-API-Key': adminKey, ...headers } };
        const sent = request(`${board.url}${path}`, options, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', reject);
          response.once('end', () =>
            resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
          );
        });
        sent.once('error', reject).end();
      },
    );

  it.each(['/api/tasks', '/api/openapi.json'])(
    'is compressed when it is long and gzip is accepted: %s',
    async (path) => {
      const plain = await get(path, throughProxy);
      expect(plain.headers).toMatchObject({
        vary: expect.stringContaining('Accept-Encoding'),
        'content-length': String(plain.bytes.length),
      });
      expect(plain.headers['content-encoding']).toBeUndefined();
      for (let round = 0; round < 2; round += 1) {
        const packed = await get(path, { ...throughProxy, ...acceptsGzip });
        expect(packed).toMatchObject({
          status: 200,
          headers: {
            'content-encoding': 'gzip',
            'content-length': String(packed.bytes.length),
            'content-type': plain.headers['content-type'],
            vary: expect.stringContaining('Accept-Encoding'),
          },
        });
        expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 3);
        expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
      }
    },
  );

  it('has a weak tag, with which it is asked for and changed as with the other', async () => {
    const path = `/api/tasks/${taskId}`;
    const { etag } = (await get(path, throughProxy)).headers;
    const packed = await get(path, { ...throughProxy, ...acceptsGzip });
    expect(packed.headers).toMatchObject({ etag: `W/${String(etag)}`, 'content-encoding': 'gzip' });
    const weak = String(packed.headers.etag);
    const known = await get(path, { ...throughProxy, ...acceptsGzip, 'If-None-Match': weak });
    expect([known.status, known.bytes.length, known.headers['content-encoding']]).toEqual([304, 0, undefined]);
    const changed = await board.call('PATCH', path, { body: { priority: 'high' }, headers: { 'If-Match': weak } });
    expect(changed.status).toBe(200);
    expect((await board.call('PATCH', path, { body: { priority: 'low' }, headers: { 'If-Match': weak } })).status).toBe(
      409,
    );
  });

  it.each<[string, Record<string, string>, string, string]>([
    ['to a caller on this machine', acceptsGzip, 'GET', '/api/tasks'],
    ['that is short', { ...throughProxy, ...acceptsGzip }, 'GET', '/api/tasks/counts'],
    ['of which only the headers are asked for', { ...throughProxy, ...acceptsGzip }, 'HEAD', '/api/tasks'],
    ['that is wanted uncompressed', { ...throughProxy, 'Accept-Encoding': 'gzip;q=0, *;q=0.5' }, 'GET', '/api/tasks'],
    ['that is wanted in another way', { ...throughProxy, 'Accept-Encoding': 'br, deflate' }, 'GET', '/api/tasks'],
  ])('is not compressed %s', async (_case, headers, method, path) => {
    const { status, headers: sent } = await get(path, headers, method);
    expect([status, sent['content-encoding']]).toEqual([200, undefined]);
  });
});
