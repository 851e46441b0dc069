import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
let document: OpenApiDocument;
describe('list filters', () => {
  beforeAll(async () => {
    board = await startWholeTestApi();
    document = (await board.call('GET', '/api/openapi.json')).body as OpenApiDocument;
    await board.call('POST', '/api/tasks', { body: { title: 'a task' } });
  });
  afterAll(() => board.close());

  interface TextSchema {
    format?: string;
    pattern?: string;
    anyOf?: TextSchema[];
  }

  interface Parameter {
    name: string;
    in: string;
    schema: TextSchema;
  }

  const timesOf = ({ anyOf = [], ...schema }: TextSchema): TextSchema[] =>
    [schema, ...anyOf].filter(({ format }) => format === 'date-time');

  const at = (time: number): string =>
    encodeURIComponent(new Date(time + 7_200_000).toISOString().replace('Z', '+02:00'));

  it('take times with an offset, every one of them', () => {
    const times = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ parameters }) =>
        (parameters as Parameter[])
          .filter((parameter) => parameter.in === 'query')
          .flatMap(({ name, schema }) =>
            timesOf(schema).map(({ pattern }) => ({ filter: `${path} ${name}`, pattern })),
          ),
      ),
    );
    expect(times.length).toBeGreaterThan(15);
    const refused = times.filter(({ pattern = '^$' }) => !new RegExp(pattern).test('2026-01-01T01:30:00+02:00'));
    expect(refused).toEqual([]);
  });

  it.each(['activity', 'audit'])('find the same in /api/%s as times of UTC do', async (path) => {
    const count = async (from: number, to: number): Promise<number> => {
      const { body } = await board.call('GET', `/api/${path}?since=${at(from)}&until=${at(to)}`);
      return (Array.isArray(body) ? body : body.entries).length as number;
    };
    const now = Date.now();
    expect(await count(now - 60_000, now + 60_000)).toBeGreaterThan(0);
    expect(await count(now - 120_000, now - 60_000)).toBe(0);
    expect(await count(now + 60_000, now + 120_000)).toBe(0);
  });

  it('find the changes since then', async () => {
    const changes = async (time: number) => (await board.call('GET', `/api/changes?since=${at(time)}`)).body.changes;
    expect((await changes(Date.now() - 60_000)).tasks.created).toHaveLength(1);
    expect((await changes(Date.now() + 60_000)).tasks.created).toHaveLength(0);
  });
});
