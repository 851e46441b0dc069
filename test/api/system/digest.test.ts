import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let api: ApiUnderTest;
const hostile = '![x](http://evil.example/x) "},{"type":"Image" <b>';
let ids: string[];

const get = (path: string) => api.call('GET', `/api/digest/${path}`, { key: readKey });

beforeAll(async () => {
  api = await startTestApi();
  const create = async (body: object) => (await api.call('POST', '/api/tasks', { body })).body.id as string;
  ids = [
    await create({ title: 'Ready', status: 'done', project: 'p', git: { repo: 'main', worktreePath: '/work/a/tree' } }),
    await create({ title: hostile.replace('<b>', ''), status: 'blocked' }),
  ];
  const about = { agent: 'ant', durationMs: 10 };
  const events = [
    { type: 'run.completed', taskId: ids[0], project: 'p', ...about, success: true },
    { type: 'run.completed', taskId: ids[1], ...about, success: false, error: hostile },
    {
      type: 'run.tokens',
      taskId: ids[0],
      project: 'p',
      agent: 'ant',
      model: 'm',
      inputTokens: 5,
      outputTokens: 2,
      cost: 0.25,
    },
  ];
  const reply = await api.call('POST', '/api/telemetry/events/bulk', { body: { events }, key: agentKey });
  expect(reply.status).toBe(201);
});
afterAll(() => api.close());

describe('digest of a day', () => {
  it('has what was done', async () => {
    expect((await get('daily')).body).toMatchObject({
      hasActivity: true,
      tasks: { completed: 1, created: 2, inProgress: 0, blocked: 1, total: 2, completedTitles: ['Ready'] },
      runs: { total: 2, successes: 1, failures: 1, errors: 0, successRate: 0.5, byAgent: [{ agent: 'ant', runs: 2 }] },
      tokens: { inputTokens: 5, outputTokens: 2, totalTokens: 7, cost: 0.25 },
      issues: { failedRuns: [{ taskId: ids[1], agent: 'ant', error: hostile }] },
    });
  });

  it('is markdown in which texts of others are text', async () => {
    const reply = await get('daily/preview');
    expect(reply.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(reply.body).toContain('- Runs: 2, 50 % with success\n');
    expect(reply.body).toContain('- Ready\n');
    expect(reply.body).toContain('\\!\\[x\\](http\\://evil.example/x)');
    expect(reply.body).not.toMatch(/(?<!\\)[<[]/);
    expect((await get('daily?format=markdown')).body).toContain('# Daily digest');
  });

  it('is a card of Teams that shows texts of others as they are', async () => {
    const { body } = await get('daily?format=teams');
    expect(body).toMatchObject({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard' } }],
    });
    const blocks: { type: string; text?: string; inlines?: { type: string; text: string }[] }[] =
      body.attachments[0].content.body;
    expect([...new Set(blocks.map(({ type }) => type))].sort()).toEqual(['FactSet', 'RichTextBlock', 'TextBlock']);
    // Markdown is read in a TextBlock alone, and none has a text of others.
    const read = blocks.filter(({ type }) => type === 'TextBlock').map(({ text }) => text);
    expect(read.filter((text) => /evil|Ready/.test(text ?? ''))).toEqual([]);
    const shown = blocks.flatMap(({ inlines = [] }) => inlines.map(({ type, text }) => [type, text]));
    expect(shown).toContainEqual(['TextRun', 'Ready']);
    expect(shown.filter(([, text]) => text?.includes(hostile))).toHaveLength(1);
  });
});

describe('digest of operations', () => {
  const runs = async (query: string) => {
    const { body } = await get(`operations?${query}`);
    return [body.runs.total, body.tasks.total, body.tokens.totalTokens];
  };

  it('is of a project, a repository or a directory', async () => {
    expect(await runs('hours=2')).toEqual([2, 2, 7]);
    expect(await runs('project=p')).toEqual([1, 1, 7]);
    expect(await runs('repo=main')).toEqual([1, 1, 7]);
    expect(await runs('repo=other')).toEqual([0, 0, 0]);
    expect(await runs('cwd=/work/a')).toEqual([1, 1, 7]);
    expect(await runs('cwd=/work/a/tree/')).toEqual([1, 1, 7]);
    expect(await runs('cwd=/work/a/tre')).toEqual([0, 0, 0]);
    expect((await get('operations?from=2020-01-01&to=2020-01-02')).body).toMatchObject({
      hasActivity: false,
      runs: { total: 0 },
      tasks: { total: 2, completed: 0 },
    });
    expect((await get('operations/preview?hours=2')).body).toContain('# Operations digest');
  });

  it.each([
    ['hours=2&from=2026-01-01', 'hours'],
    ['cwd=relative', 'cwd'],
    ['hours=0', 'hours'],
    ['repo=../x', 'repo'],
    ['from=2026-01-02&to=2026-01-01', 'to'],
  ])('refuses %s at %s', async (query, field) => {
    const reply = await get(`operations?${query}`);
    expect(reply).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(JSON.stringify(reply.body)).toContain(`"${field}"`);
  });
});
