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
    type?: string;
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

  /** The status and the paths of the issues of each list with a value of one of its filters. */
  const askEach = async (value: string, isWanted: (schema: TextSchema) => boolean) => {
    const queries = Object.entries(document.paths).flatMap(([path, { get }]) =>
      path.includes('{')
        ? []
        : ((get?.parameters ?? []) as Parameter[])
            .filter((parameter) => parameter.in === 'query' && isWanted(parameter.schema))
            .map(({ name }) => ({ name, path })),
    );
    const answers = queries.map(async ({ name, path }) => {
      const { status, body } = await board.call('GET', `${path}?${name}=${encodeURIComponent(value)}`);
      const issues = (body?.details?.issues ?? []) as { path: string }[];
      return { filter: `${path} ${name}`, status, refuses: issues.some((issue) => issue.path === name) };
    });
    expect(answers.length).toBeGreaterThan(15);
    return Promise.all(answers);
  };

  it.each(['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00'])(
    'refuse %s, whose year has no four digits in UTC',
    async (time) => {
      const answers = await askEach(time, (schema) => timesOf(schema).length > 0);
      expect(answers.filter(({ status, refuses }) => status !== 400 || !refuses)).toEqual([]);
    },
  );

  it.each(['9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z'])('take or refuse %s', async (time) => {
    const answers = await askEach(time, (schema) => timesOf(schema).length > 0);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  });

  it.each([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])('take or refuse the number %s', async (number) => {
    const answers = await askEach(String(number), ({ type }) => type === 'integer' || type === 'number');
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
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
