import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('lessons API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const learnt = (fields: object) => board.call('POST', '/api/tasks', { body: { title: 'A task', ...fields } });

  it('are kept with the task, also in the archive, and found by all of several tags', async () => {
    const { body: one } = await learnt({ lessonsLearned: 'Wait', lessonTags: ['care', 'time'], project: 'shop' });
    const { body: other } = await learnt({ lessonsLearned: 'Look', lessonTags: ['care'] });
    await board.call('POST', `/api/tasks/${one.id}/archive`);
    const both = (await board.call('GET', '/api/lessons?tag=care', { key: agentKey })).body;
    expect(both.data.map(({ taskId }: { taskId: string }) => taskId).sort()).toEqual([one.id, other.id].sort());
    expect(both.pagination).toEqual({ total: 2, limit: 50, offset: 0, hasMore: false });
    const exact = (await board.call('GET', '/api/lessons?tag=care&tag=time', { key: readKey })).body;
    expect(exact.data).toMatchObject([{ taskId: one.id, lessonsLearned: 'Wait', project: 'shop' }]);
    expect((await board.call('GET', '/api/lessons/tags')).body).toEqual({
      data: [
        { tag: 'care', count: 2 },
        { tag: 'time', count: 1 },
      ],
    });
  });

  it('are taken away with null', async () => {
    const { body } = await learnt({ lessonsLearned: 'Wrong', lessonTags: ['wrong'] });
    const cleared = await board.call('PATCH', `/api/tasks/${body.id}`, {
      body: { lessonsLearned: null, lessonTags: null },
    });
    expect(cleared.body).not.toHaveProperty('lessonsLearned');
    expect((await board.call('GET', '/api/lessons?tag=wrong')).body.data).toEqual([]);
  });

  it.each([
    ['limit=101', 'limit'],
    ['tags=x', 'tags'],
  ])('refuses %s by its name', async (query, path) => {
    const refused = await board.call('GET', `/api/lessons?${query}`);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('refuses a tag that is none, and callers without a key', async () => {
    const refused = await learnt({ lessonTags: ['<b>'] });
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path: 'lessonTags.0' }));
    expect((await board.call('GET', '/api/lessons', { key: null })).status).toBe(401);
  });
});
