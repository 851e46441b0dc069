import { nextMillisecond } from '../../support/next-millisecond';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('feedback API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest = '', options: CallOptions = {}) =>
    board.call(method, `/api/feedback${rest}`, options);
  const praise = { content: 'Clean work', sentiment: 'positive', category: 'quality', agent: 'bee', taskId: 'TASK-1' };
  const give = async (fields: object = {}) => {
    await nextMillisecond();
    return (await call('POST', '', { body: { ...praise, ...fields } })).body;
  };
  const idsOf = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);

  it('is given, read, and deleted once', async () => {
    const given = await call('POST', '', { body: praise, key: agentKey });
    expect(given).toMatchObject({
      status: 201,
      body: { ...praise, categories: ['quality'], resolved: false, createdBy: 'agent:worker' },
    });
    const { id } = given.body;
    expect((await call('GET', `/${id}`)).body).toEqual(given.body);
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    expect(await call('DELETE', `/${id}`)).toMatchObject({
      status: 404,
      body: { details: { resource: 'feedback', id } },
    });
    expect((await call('GET', `/${id}`)).status).toBe(404);
  });

  it.each([
    [5, 'positive'],
    [4, 'positive'],
    [3, 'neutral'],
    [2, 'negative'],
  ])('takes a rating of %i for %s', async (rating, sentiment) => {
    const body = { taskId: 'TASK-2', rating, comment: 'As <b>rated</b>', categories: ['ux', 'safety'], agent: 'bee' };
    expect(await call('POST', '', { body })).toMatchObject({
      status: 201,
      body: { taskId: 'TASK-2', rating, sentiment, content: 'As rated', category: 'ux', categories: ['ux', 'safety'] },
    });
  });

  it.each([
    ['neither form', {}, 'content'],
    ['both forms', { ...praise, rating: 5 }, 'content'],
    ['content without a sentiment', { content: 'Good' }, 'sentiment'],
    ['a rating with a sentiment', { rating: 5, taskId: 'TASK-1', sentiment: 'negative' }, 'sentiment'],
    ['a rating of nothing', { rating: 5 }, 'taskId'],
    ['a rating that is none', { rating: 6, taskId: 'TASK-1' }, 'rating'],
    ['a comment on content', { ...praise, comment: 'x' }, 'comment'],
    ['categories twice', { ...praise, categories: ['a'] }, 'categories'],
    ['nothing but tags', { ...praise, content: '<br>' }, 'content'],
    ['another sentiment', { ...praise, sentiment: 'angry' }, 'sentiment'],
    ['a field that is none', { ...praise, mood: 'good' }, 'mood'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await call('POST', '', { body });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('is listed by what it is about, the newest first, in pages', async () => {
    const about = { agent: 'lister', taskId: 'TASK-3' };
    const first = await give(about);
    const second = await give({ ...about, sentiment: 'negative' });
    const third = await give({ agent: 'lister', taskId: 'TASK-4' });
    expect(idsOf(await call('GET', '?agent=lister'))).toEqual([third.id, second.id, first.id]);
    expect(idsOf(await call('GET', '?agent=lister&limit=1&offset=1'))).toEqual([second.id]);
    expect(idsOf(await call('GET', '?taskId=TASK-3&sentiment=positive'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?agent=lister&since=2999-01-01T00:00:00Z'))).toEqual([]);
    expect(idsOf(await call('GET', `?agent=lister&since=${first.createdAt}`))).toHaveLength(3);
    expect(idsOf(await call('GET', ''))).toContain(first.id);
    expect(await call('GET', '?limit=0')).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'limit' }] } },
    });
  });

  it('is unresolved until it is resolved', async () => {
    const { id } = await give({ agent: 'resolver' });
    expect(idsOf(await call('GET', '/unresolved'))).toContain(id);
    expect((await call('PATCH', `/${id}`, { body: { resolved: true } })).body).toMatchObject({ id, resolved: true });
    expect(idsOf(await call('GET', '/unresolved'))).not.toContain(id);
    expect(idsOf(await call('GET', '?agent=resolver&resolved=true'))).toEqual([id]);
    expect((await call('PATCH', '/feedback_000000000000', { body: { resolved: true } })).status).toBe(404);
  });

  it('is taken together for one agent', async () => {
    await give({ agent: 'taken', category: 'speed' });
    await give({ agent: 'taken', sentiment: 'negative', category: 'speed' });
    const { body } = await call('GET', '/analytics?agent=taken');
    const today = new Date().toISOString().slice(0, 10);
    expect(body).toMatchObject({
      total: 2,
      sentimentBreakdown: { positive: 1, neutral: 0, negative: 1 },
      topCategories: [{ category: 'speed', count: 2 }],
    });
    expect(body.trend.at(-1).date <= today).toBe(true);
    expect((await call('GET', '/analytics?agent=taken&until=2000-01-01T00:00:00Z')).body.total).toBe(0);
  });

  it('is read with report:read and given with comment:write', async () => {
    expect((await call('GET', '', { key: readKey })).status).toBe(200);
    expect((await call('POST', '', { body: praise, key: readKey })).status).toBe(403);
    expect((await call('GET', '', { key: null })).status).toBe(401);
  });
});
