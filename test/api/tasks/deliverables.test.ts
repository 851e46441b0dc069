import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('deliverables API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const add = (id: string, body: unknown, options = {}) =>
    board.call('POST', `/api/tasks/${id}/deliverables`, { body, ...options });
  const patch = (id: string, deliverableId: string, body: unknown) =>
    board.call('PATCH', `/api/tasks/${id}/deliverables/${deliverableId}`, { body });
  const list = (id: string, options = {}) => board.call('GET', `/api/tasks/${id}/deliverables`, options);

  it('adds a deliverable, answers the task with it and lists it', async () => {
    const { id } = await board.createTask();
    const { status, body } = await add(
      id,
      { title: 'The <b>report</b>', type: 'report', path: 'docs/report.md', description: 'What was found' },
      { key: agentKey },
    );
    expect(status).toBe(201);
    expect(body.deliverables).toEqual([
      {
        id: expect.stringMatching(/^deliverable_[0-9a-f]{12}$/),
        title: 'The report',
        type: 'report',
        path: 'docs/report.md',
        description: 'What was found',
        status: 'attached',
        agent: 'worker',
        version: 1,
        created: expect.any(String),
        updated: expect.any(String),
      },
    ]);
    expect((await list(id, { key: readKey })).body).toEqual(body.deliverables);
  });

  it('is pending and of no kind until it is described', async () => {
    const { id } = await board.createTask();
    const [added] = (await add(id, { title: 'later', agent: 'ada' })).body.deliverables;
    expect(added).toMatchObject({ type: 'other', status: 'pending', agent: 'ada', version: 1 });
  });

  it('is the next version when its path or description changes, and only then', async () => {
    const { id } = await board.createTask();
    const [added] = (await add(id, { title: 'report', path: 'a.md' })).body.deliverables;
    const version = async (body: unknown) => (await patch(id, added.id, body)).body.deliverables[0].version;
    expect(await version({ status: 'reviewed', title: 'the report', type: 'document' })).toBe(1);
    expect(await version({ path: 'a.md' })).toBe(1);
    expect(await version({ path: 'b.md', description: 'moved' })).toBe(2);
    expect(await version({ description: 'moved again' })).toBe(3);
    expect((await list(id)).body).toEqual([
      expect.objectContaining({ title: 'the report', type: 'document', status: 'reviewed', path: 'b.md', version: 3 }),
    ]);
  });

  it('counts every one of ten changes that come at once', async () => {
    const { id } = await board.createTask();
    const [added] = (await add(id, { title: 'report' })).body.deliverables;
    await Promise.all(Array.from({ length: 10 }, (_, number) => patch(id, added.id, { path: `${number}.md` })));
    expect((await list(id)).body[0].version).toBe(11);
  });

  it('deletes one deliverable, and keeps the others', async () => {
    const { id } = await board.createTask();
    const [first] = (await add(id, { title: 'one' })).body.deliverables;
    await add(id, { title: 'two' });
    const remove = () => board.call('DELETE', `/api/tasks/${id}/deliverables/${first.id}`);
    expect((await remove()).body.deliverables).toEqual([expect.objectContaining({ title: 'two' })]);
    expect(await remove()).toMatchObject({ status: 404, body: { details: { resource: 'deliverable', id: first.id } } });
    expect(await patch(id, first.id, { title: 'x' })).toMatchObject({ status: 404 });
  });

  it.each([
    ['no title', {}, 'title'],
    ['a title of tags only', { title: '<br>' }, 'title'],
    ['a kind that is none', { title: 'a', type: 'poem' }, 'type'],
    ['a path too long', { title: 'a', path: 'x'.repeat(501) }, 'path'],
    ['a description too long', { title: 'a', description: 'x'.repeat(1001) }, 'description'],
    ['a version of its own', { title: 'a', version: 7 }, 'version'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const { id } = await board.createTask();
    const refused = await add(id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs a task, the permission to write, and the revision the caller states', async () => {
    const { id } = await board.createTask();
    expect(await add('task_20260101_nobody', { title: 'a' })).toMatchObject({ status: 404 });
    expect(await list('task_20260101_nobody')).toMatchObject({ status: 404 });
    expect(await add(id, { title: 'a' }, { key: readKey })).toMatchObject({ status: 403 });
    expect(await add(id, { title: 'a', expectedRevision: 9 })).toMatchObject({ status: 409 });
    const [added] = (await add(id, { title: 'a' })).body.deliverables;
    expect(await patch(id, added.id, { status: 'lost' })).toMatchObject({ status: 400 });
    expect(await patch(id, added.id, { status: 'accepted', expectedRevision: 1 })).toMatchObject({ status: 409 });
  });
});
