import type { Activity } from '../../../contracts/chat/activity';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('activity API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, path: string, body?: unknown, key = agentKey) =>
    board.call(method, `/api${path}`, { body, key });
  const aTask = async (fields: object = {}): Promise<string> =>
    (await call('POST', '/tasks', { title: 'A task', ...fields })).body.id;
  const list = async (query: string): Promise<Activity[]> =>
    (await board.call('GET', `/api/activity?${query}`, { key: readKey })).body;
  /** What was done to a task, the first first. */
  const typesOf = async (id: string) => (await list(`taskId=${id}`)).map(({ type }) => type).reverse();

  it('records who did what to which task', async () => {
    const id = await aTask({ title: 'Ship it' });
    expect(await list(`taskId=${id}`)).toEqual([
      {
        id: expect.stringMatching(/^activity_[a-f0-9]{12}$/),
        type: 'task_created',
        taskId: id,
        taskTitle: 'Ship it',
        agent: 'worker',
        actor: 'agent:worker',
        timestamp: expect.any(String),
      },
    ]);
    await board.call('PATCH', `/api/tasks/${id}`, { body: { status: 'in-progress' } });
    const [changed] = await list(`taskId=${id}`);
    expect(changed).toMatchObject({ actor: 'service:admin', details: { from: 'todo', to: 'in-progress' } });
    expect(changed?.agent).toBeUndefined();
  });

  it('knows every way a task is changed', async () => {
    const id = await aTask();
    const other = await aTask();
    const added = async (path: string, body: unknown) => (await call('POST', `/tasks/${id}/${path}`, body)).body;
    await call('PATCH', `/tasks/${id}`, { title: 'Another title' });
    const comment = (await added('comments', { text: 'hm' })).comments[0].id;
    await call('DELETE', `/tasks/${id}/comments/${comment}`);
    const observation = (await added('observations', { content: 'hm', type: 'insight' })).observations[0].id;
    await call('DELETE', `/tasks/${id}/observations/${observation}`);
    const deliverable = (await added('deliverables', { title: 'Report', type: 'document' })).deliverables[0].id;
    await call('PATCH', `/tasks/${id}/deliverables/${deliverable}`, { status: 'accepted' });
    await call('DELETE', `/tasks/${id}/deliverables/${deliverable}`);
    await added('dependencies', { depends_on: other });
    await call('DELETE', `/tasks/${id}/dependencies/${other}`);
    await call('POST', `/tasks/${id}/demote`);
    await call('POST', `/backlog/${id}/promote`);
    await call('POST', `/tasks/${id}/archive`);
    await call('POST', `/tasks/${id}/restore`);
    await call('DELETE', `/tasks/${id}`);
    const reported = await typesOf(id);
    expect(reported.filter((type) => type !== 'status_changed')).toEqual([
      'task_created',
      'task_updated',
      'comment_added',
      'comment_deleted',
      'observation_added',
      'observation_deleted',
      'deliverable_added',
      'deliverable_updated',
      'deliverable_deleted',
      'dependency_added',
      'dependency_removed',
      'task_demoted',
      'task_promoted',
      'task_archived',
      'task_restored',
      'task_deleted',
    ]);
    // A restored task is done.
    expect(reported.filter((type) => type === 'status_changed')).toHaveLength(1);
  });

  it('reports each of many tasks that are changed at once', async () => {
    const ids = await Promise.all([aTask(), aTask(), aTask()]);
    await call('POST', '/tasks/bulk-update', { ids, status: 'blocked' });
    for (const id of ids) {
      expect(await typesOf(id)).toEqual(['task_created', 'status_changed']);
    }
    await call('POST', '/tasks/reorder', { orderedIds: ids });
    for (const id of ids) {
      expect(await typesOf(id)).toEqual(['task_created', 'status_changed']);
    }
  });

  it('reports the task that its last subtask has completed', async () => {
    const id = await aTask({ autoCompleteOnSubtasks: true });
    const { subtasks } = (await call('POST', `/tasks/${id}/subtasks`, { title: 'Step' })).body;
    await call('PATCH', `/tasks/${id}/subtasks/${subtasks[0].id}`, { completed: true });
    const done = await list(`taskId=${id}&type=status_changed`);
    expect(done).toEqual([expect.objectContaining({ details: { from: 'todo', to: 'done' } })]);
  });

  it('reports a template that was applied', async () => {
    const id = await aTask();
    const template = (await board.call('POST', '/api/templates', { body: { name: 'Bug', taskDefaults: {} } })).body;
    const body = { templateId: template.id, fieldsChanged: ['type'] };
    expect((await call('POST', `/tasks/${id}/apply-template`, body)).status).toBe(200);
    const [applied] = await list(`taskId=${id}`);
    expect(applied).toMatchObject({
      type: 'template_applied',
      details: { templateName: 'Bug', fieldsChanged: ['type'] },
    });
  });

  it('reports nothing of what was refused', async () => {
    const id = await aTask();
    expect((await call('PATCH', `/tasks/${id}`, { title: 'B', expectedRevision: 9 })).status).toBe(409);
    expect((await call('DELETE', `/tasks/${id}/comments/none`)).status).toBe(404);
    expect(await typesOf(id)).toEqual(['task_created']);
  });

  it('has every one of many changes at once, each once', async () => {
    const id = await aTask();
    await Promise.all(Array.from({ length: 20 }, (_, n) => call('POST', `/tasks/${id}/comments`, { text: `c ${n}` })));
    const comments = (await call('GET', `/tasks/${id}/comments`)).body.map((one: { id: string }) => one.id);
    const reported = (await list(`taskId=${id}&type=comment_added`)).map(({ details }) => details?.commentId);
    expect(reported.sort()).toEqual(comments.sort());
  });

  it('is filtered and comes in pages', async () => {
    const id = await aTask();
    for (let n = 0; n < 4; n += 1) {
      await call('PATCH', `/tasks/${id}`, { title: `Title ${n}` });
    }
    const all = await list(`taskId=${id}`);
    const pages = await Promise.all([1, 2, 3].map((page) => list(`taskId=${id}&limit=2&page=${page}`)));
    expect(pages.flat()).toEqual(all);
    expect(await list(`taskId=${id}&since=${all[1]?.timestamp}`)).toEqual([all[0]]);
    expect(await list(`taskId=${id}&until=${all[4]?.timestamp}`)).toEqual([all[4]]);
    expect(await list(`taskId=${id}&agent=nobody`)).toEqual([]);
    expect((await list('agent=worker&type=task_created')).length).toBeGreaterThan(0);
    const filters = (await board.call('GET', '/api/activity/filters', { key: readKey })).body;
    expect(filters.agents).toEqual(['worker']);
    expect(filters.types).toEqual(expect.arrayContaining(['task_created', 'task_updated']));
    expect((await board.call('GET', '/api/activity?type=nothing')).status).toBe(400);
  });

  it('is read with telemetry:read, and cleared by administrators', async () => {
    expect((await call('GET', '/activity')).status).toBe(200);
    expect((await call('DELETE', '/activity')).status).toBe(403);
    expect((await board.call('DELETE', '/api/activity')).status).toBe(204);
    expect(await list('limit=5')).toEqual([]);
  });
});
