import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import Koa from 'koa';
import { eventually } from '../../../platform/testing/eventually';
import { setTracing } from '../../../platform/tracing/spans';
import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
describe('bitmap quick queries', () => {
  beforeAll(async () => {
    server = await serverUnderTest({ bodyLimit: 100_000 });
    await server.call('POST', '/index/q');
    await server.call('POST', '/index/q/field/a');
    await server.query('q', 'Set(1, a=1) Set(1048576, a=1) SetRowAttrs(a, 1, x="é")');
  });
  afterAll(() => server.remove());

  /** A header that does not change the response, but takes the request through the middleware. */
  const throughTheRoute = { Accept: 'application/json;q=0.9' };

  const answers = async (path: string, text: string): Promise<{ quick: unknown; route: unknown }> => {
    const seen = async (headers?: Record<string, string>): Promise<unknown> => {
      const { status, type, text: body } = await server.call('POST', path, text, headers);
      return { status, type, body };
    };
    return { quick: await seen(), route: await seen(throughTheRoute) };
  };

  it.each([
    ['a row', '/index/q/query', 'Row(a=1)'],
    ['several calls', '/index/q/query', 'Count(Row(a=1)) TopN(a, n=1)'],
    ['nothing', '/index/q/query', ''],
    ['what cannot be parsed', '/index/q/query', 'Row(a='],
    ['a field that is not there', '/index/q/query', 'Set(1, a=1) Row(none=1)'],
    ['an index that is not there', '/index/none/query', 'Row(a=1)'],
    ['a body that is too large', '/index/q/query', 'x'.repeat(100_001)],
  ])('a plain query for %s is answered as the route answers it', async (_what, path, text) => {
    const { quick, route } = await answers(path, text);
    expect(quick).toEqual(route);
  });

  it('long answers are sent in pieces, as the route does', async () => {
    await server.call('POST', '/index/q/field/long');
    const columns = Array.from({ length: 4_000 }, (_, at) => `Set(${at * 7}, long=0)`);
    await server.query('q', columns.join(''));
    for (const by of [4_000, 8_000, 16_000, 32_000, 64_000]) {
      await server.query('q', `Store(Union(Row(long=0), Shift(Row(long=0), n=${by * 7})), long=0)`);
    }
    expect(await server.query('q', 'Count(Row(long=0))')).toBe('{"results":[128000]}');
    const { quick, route } = await answers('/index/q/query', 'Row(long=0)');
    expect(quick).toEqual(route);
  });

  it('writes of callers that come at once are all answered, and all there after a restart', async () => {
    await server.call('POST', '/index/q/field/many');
    const logWrites = async (): Promise<number> =>
      Number(/^bitmap_log_writes (\d+)$/m.exec((await server.call('GET', '/metrics')).text)?.[1]);
    const before = await logWrites();
    const sets = Array.from({ length: 200 }, (_, at) => server.query('q', `Set(${at}, many=${at % 3})`));
    expect(new Set(await Promise.all(sets))).toEqual(new Set(['{"results":[true]}']));
    // Those that come together are written together.
    expect((await logWrites()) - before).toBeLessThan(200);
    await server.restart();
    expect(await server.query('q', 'Count(Union(Row(many=0), Row(many=1), Row(many=2)))')).toBe('{"results":[200]}');
  });

  it('pass by the middleware also where spans are recorded', async () => {
    const middleware = jest.fn((_request: unknown, response: ServerResponse) => void response.end('{}'));
    const callback = jest.spyOn(Koa.prototype, 'callback').mockReturnValue(middleware as never);
    setTracing(true);
    let traced: ServerUnderTest | undefined;
    try {
      traced = await serverUnderTest();
      expect(await traced.query('none', 'Row(a=1)')).toContain('index not found');
      expect(middleware).not.toHaveBeenCalled();
      await traced.call('GET', '/version');
      expect(middleware).toHaveBeenCalledTimes(1);
    } finally {
      setTracing(false);
      callback.mockRestore();
      await traced?.remove();
    }
  });

  it('are counted and timed like every other request', async () => {
    await server.call('POST', '/index/q/query', 'Row(a=');
    const { text } = await server.call('GET', '/metrics');
    expect(text).toMatch(/_count\{method="POST",route="\/index\/:index\/query",status="400"\} \d/);
  });

  it('callers that go away in the middle affect no other caller', async () => {
    await server.call('POST', '/index/q/field/gone');
    const port = Number(new URL(server.url).port);
    const send = async (text: string): Promise<void> => {
      const socket = connect({ port, host: '127.0.0.1' });
      await once(socket, 'connect');
      socket.write(text, () => socket.resetAndDestroy());
      await once(socket, 'close');
    };
    const body = 'Set(5, gone=1)';
    await send(`POST /index/q/query HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 50\r\n\r\nSet(4, `);
    for (let time = 0; time < 20; time += 1) {
      await send(
        `POST /index/q/query HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    }
    await eventually(async () => expect(await server.query('q', 'Count(Row(gone=1))')).toBe('{"results":[1]}'));
  });

  it('need the token where there is one', async () => {
    const guarded = await serverUnderTest({ token: 'secret' });
    try {
      const query = (headers: Record<string, string>) => guarded.call('POST', '/index/q/query', 'Row(a=1)', headers);
      expect((await query({})).status).toBe(401);
      expect((await query({ Authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await query({ Authorization: 'Bearer secret' })).text).toBe('{"error":"index not found"}\n');
    } finally {
      await guarded.remove();
    }
  });
});
