import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from './service-under-test';
import { aStage, openStoredRuns, type StoredRuns } from './stored-runs';

let service: WorkflowRunsUnderTest;
let stored: StoredRuns;
let runs: string[];
beforeAll(async () => {
  service = await startServiceUnderTest();
  stored = await openStoredRuns(service);
  const usage = { input_tokens: 100, output_tokens: 10, cost: 0.25 };
  const records = [
    await stored.add({
      goal: 'Ship',
      stages: [aStage({ model: 'large', usage }), aStage({ id: 'build', retries: 1 })],
    }),
    await stored.add({ slug: 'other', status: 'failed', error: { message: 'No.' } }),
    await stored.add({ status: 'running' }),
  ];
  runs = records.map(({ _id }) => _id);
  await service.call('PUT', '/verification/criteria/clean', { name: 'Clean', question: 'Is it?' });
  const control = { name: 'Lint', description: '', type: 'automated', criterion: 'clean' };
  await service.call('PUT', '/verification/controls/lint', control);
  const signoff = { control: 'lint', repository: 'shop', commit_sha: 'abcdef1', status: 'pass', source: 'ci' };
  await service.call('POST', '/verification/signoffs', signoff);
});
afterAll(async () => {
  await stored.database.close();
  await service.close();
});

const execute = (sql: string) => service.call('POST', '/insights/execute', { sql });
const rowsOf = async (sql: string): Promise<unknown[][]> => {
  const { status, body } = await execute(sql);
  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
  return body.rows;
};
const refusal = async (sql: string): Promise<string> => {
  const { status, body } = await execute(sql);
  expect(status).toBe(400);
  return body.errors[0].detail;
};

describe('an execution', () => {
  it('answers columns and rows, and how long it took', async () => {
    const { status, body } = await execute('SELECT id, status AS s FROM runs ORDER BY id');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        columns: ['id', 's'],
        rows: [
          [runs[0], 'completed'],
          [runs[1], 'failed'],
          [runs[2], 'running'],
        ],
        elapsed: expect.any(Number),
        row_count: 3,
      },
    });
    expect(body.elapsed).toBeLessThan(5);
  });

  it.each<[string, unknown[][]]>([
    [
      'SELECT workflow, goal, error, duration_secs, stages, smoothness FROM runs ORDER BY id LIMIT 2',
      [
        ['ship-it', 'Ship', null, 10, 2, 'smooth'],
        ['other', null, 'No.', 10, 1, 'failed'],
      ],
    ],
    [
      `SELECT id, position, node, retries, model, cost FROM stages WHERE run_id = (SELECT min(id) FROM runs)`,
      [
        ['plan', 0, 'plan', 0, 'large', 0.25],
        ['build', 1, 'plan', 1, null, null],
      ],
    ],
    [
      'SELECT workflow, smoothness, total_retries, total_cost, friction_points FROM retros ORDER BY run_id',
      [
        ['ship-it', 'smooth', 1, 0.25, 1],
        ['other', 'failed', 0, null, 0],
      ],
    ],
    [
      'SELECT control, repository, commit_sha, status, source, url FROM signoffs',
      [['lint', 'shop', 'abcdef1', 'pass', 'ci', null]],
    ],
    ['SELECT model, stages, input_tokens, output_tokens, cost FROM "usage"', [['large', 1, 100, 10, 0.25]]],
    ['SELECT count(*) FROM stages', [[4]]],
    ["SELECT s.retries FROM (SELECT * FROM stages WHERE id = 'build') s", [[1]]],
    ['SELECT count(*) FROM stages NATURAL JOIN (SELECT 0 AS retries)', [[3]]],
    ['WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3) SELECT sum(x), max(x) FROM n', [[6, 3]]],
    [
      `SELECT r.workflow, count(*), rank() OVER (ORDER BY count(*)) FROM runs r JOIN stages s ON s.run_id = r.id
      WHERE r.title LIKE 'ship%' GROUP BY 1 ORDER BY 1 -- by name;`,
      [
        ['other', 1, 1],
        ['ship-it', 3, 2],
      ],
    ],
  ])('finds what is asked for with %s', async (sql, rows) => {
    expect(await rowsOf(sql)).toEqual(rows);
  });

  it('keeps every value what it is', async () => {
    const sql = `SELECT 1.5, 'ü', NULL, 9007199254740993, -9007199254740991, x'00ff', 9e999, '', 1 AS a, 2 AS a, date('now') > '2000'`;
    const { body } = await execute(sql);
    const first = [1.5, 'ü', null, '9007199254740993', -9007199254740991, '00ff', 'Infinity', '', 1, 2, 1];
    expect(body.rows).toEqual([first]);
    expect(body.columns.slice(8, 10)).toEqual(['a', 'a']);
  });

  it.each([
    ['SELEC 1', 'Only SELECT can be executed.'],
    ['SELECT * FORM runs', 'near "FORM": syntax error'],
    ['SELECT * FROM absent', 'no such table: absent'],
    ['SELECT colour FROM runs', 'no such column: colour'],
    ['SELECT 1; SELECT 2', 'Only one statement can be executed.'],
    ['SELECT * FROM json_each(json_array(1))', 'Virtual tables and table-valued functions cannot be used.'],
    [
      'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10001) SELECT x FROM n',
      'The response has more than 10000 rows; narrow it, or add LIMIT.',
    ],
    [`SELECT replace(hex(zeroblob(3000000)), '0', 'a')`, 'not authorized to use function: zeroblob'],
    [`SELECT cast(x'ff' AS TEXT)`, 'The response has a text that is not valid UTF-8; select hex() of it.'],
    ['SELECT char(55296)', 'The response has a text that is not valid UTF-8; select hex() of it.'],
    [`SELECT printf('%5000000d', 1)`, 'The response has more than 4194304 bytes; narrow it, or add LIMIT.'],
  ])('refuses %s', async (sql, message) => {
    expect(await refusal(sql)).toContain(message);
  });

  it.each([{}, { sql: '' }, { sql: 'SELECT 1\0' }, { sql: 'SELECT 1', limit: 1 }, { sql: 1 }])(
    'refuses the body %j',
    async (body) => {
      expect((await service.call('POST', '/insights/execute', body)).status).toBe(400);
    },
  );
});

describe('a query touches nothing but its own tables', () => {
  const path = () => join(service.dataDir, 'touched');
  const secret = () => join(service.dataDir, 'secret');
  beforeAll(() => writeFileSync(secret(), 'hidden'));

  it.each<(at: { touched: string; secret: string }) => string>([
    ({ touched }) => `ATTACH '${touched}' AS other`,
    ({ touched }) => `VACUUM INTO '${touched}'`,
    ({ touched }) => `SELECT writefile('${touched}', 'x')`,
    ({ touched }) => `SELECT "writefile"('${touched}', 'x')`,
    ({ touched }) => `SELECT iif(0, 1, /* */ WriteFile ('${touched}', 'x')) FROM runs`,
    ({ touched }) =>
      `WITH a AS (SELECT writefile('${touched}', 'x') AS b) SELECT 1 FROM runs ORDER BY (SELECT b FROM a)`,
    ({ touched }) => `SELECT sum(1) FILTER (WHERE writefile('${touched}', 'x')) OVER () FROM runs`,
    ({ touched }) => `VALUES (1), (writefile('${touched}', 'x'))`,
    ({ touched }) => `SELECT 1; SELECT writefile('${touched}', 'x')`,
    ({ secret: file }) => `SELECT readfile('${file}')`,
    ({ secret: file }) => `SELECT data FROM fsdir('${file}')`,
    ({ secret: file }) => `SELECT data FROM fsdir WHERE path = '${file}'`,
    () => `SELECT load_extension('libm')`,
    () => `SELECT sha3_query('SELECT 1')`,
    () => `SELECT fts3_tokenizer('simple', x'00')`,
    () => `SELECT sqlite3mc_config('cipher')`,
    () => 'SELECT * FROM sqlite_dbpage',
    () => 'SELECT * FROM pragma_database_list',
    () => 'PRAGMA query_only = 0',
    () => 'CREATE TABLE mine (x)',
    () => 'CREATE TEMP VIEW mine AS SELECT 1',
    () => 'INSERT INTO runs (id) VALUES (1)',
    () => 'WITH a AS (SELECT 1) DELETE FROM runs RETURNING id',
    () => `WITH a AS (SELECT 1) UPDATE runs SET id = '' RETURNING id`,
    () => 'DROP TABLE runs',
    () => 'BEGIN',
  ])('%p', async (sqlOf) => {
    expect(await refusal(sqlOf({ touched: path(), secret: secret() }))).not.toContain('hidden');
    expect(existsSync(path())).toBe(false);
  });

  it('and leaves these as they are', async () => {
    expect(await rowsOf('SELECT count(*), count(id) FROM runs')).toEqual([[3, 3]]);
  });
});

describe('saved queries', () => {
  it('are made, read, replaced and removed', async () => {
    const made = await service.call('POST', '/insights/queries', { name: 'All', sql: 'SELECT * FROM runs' });
    expect(made).toMatchObject({ status: 201, body: { name: 'All', sql: 'SELECT * FROM runs' } });
    expect(made.body.id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    const url = `/insights/queries/${made.body.id}`;
    expect((await service.call('GET', url)).body).toEqual(made.body);
    const replaced = await service.call('PUT', url, { name: 'One', sql: 'SELECT 1' });
    expect(replaced).toMatchObject({
      status: 200,
      body: { name: 'One', sql: 'SELECT 1', created_at: made.body.created_at },
    });
    expect((await service.call('GET', '/insights/queries')).body).toEqual({
      data: [replaced.body],
      meta: { has_more: false },
    });
    expect((await service.call('DELETE', url)).status).toBe(204);
    for (const [method, body] of [['GET'], ['PUT', { name: 'One', sql: 'SELECT 1' }], ['DELETE']] as const) {
      expect(await service.call(method, url, body)).toMatchObject({
        status: 404,
        body: { errors: [{ status: '404', title: 'Not Found', detail: 'Saved query not found.' }] },
      });
    }
  });

  it.each([{ name: '', sql: 'SELECT 1' }, { name: 'x' }, { name: 'x', sql: 'SELECT 1', owner: 'ann' }])(
    'are refused with %j',
    async (body) => {
      expect((await service.call('POST', '/insights/queries', body)).status).toBe(400);
    },
  );
});

it('keeps what was executed, the latest first', async () => {
  await execute('SELECT 1 UNION SELECT 2');
  await execute('SELECT no_such_thing');
  await execute('SELECT 3');
  const { body } = await service.call('GET', '/insights/history?page[limit]=2');
  const entry = { id: expect.any(String), timestamp: expect.any(String), elapsed: expect.any(Number) };
  expect(body).toEqual({
    data: [
      { ...entry, sql: 'SELECT 3', row_count: 1 },
      { ...entry, sql: 'SELECT 1 UNION SELECT 2', row_count: 2 },
    ],
    meta: { has_more: true },
  });
  expect((await service.call('GET', '/insights/history', undefined, null)).status).toBe(401);
});

it('reads texts with NUL and halves of characters, which models may answer with', async () => {
  const { _id } = await stored.add({ goal: 'lone \ud83d half', stages: [aStage({ notes: 'a\0b', dot_id: '\udc00' })] });
  expect(await rowsOf(`SELECT goal FROM runs WHERE id = '${_id}'`)).toEqual([['lone \ufffd half']]);
  const notes = `SELECT notes, node FROM stages WHERE run_id = '${_id}'`;
  expect(await rowsOf(notes)).toEqual([['a\ufffdb', '\ufffd']]);
});

it('is about the newest runs when there are many, and reports it', async () => {
  await Promise.all(Array.from({ length: 1_000 }, () => stored.add()));
  expect((await execute('SELECT count(*) FROM runs')).body).toMatchObject({ rows: [[1_000]], left_out: ['runs'] });
});
