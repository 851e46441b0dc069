import { agentKey, type ApiUnderTest, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('audit API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const entries = async (query: string) => (await board.call('GET', `/api/audit?${query}`)).body.entries;

  it('records who created and deleted a task', async () => {
    const { id } = (await board.call('POST', '/api/tasks', { key: agentKey, body: { title: 'Short-lived' } })).body;
    await board.call('DELETE', `/api/tasks/${id}`);
    expect(await entries(`resource=${id}`)).toEqual([
      expect.objectContaining({ action: 'task.delete', actor: 'service:admin' }),
      expect.objectContaining({ action: 'task.create', actor: 'agent:worker', details: { title: 'Short-lived' } }),
    ]);
  });

  it('records who archived, restored, demoted and promoted a task, one by one or many at once', async () => {
    const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'Moved', sprint: 's1', status: 'done' } }))
      .body;
    const done = async (path: string, body?: unknown) =>
      expect((await board.call('POST', path, { key: agentKey, body })).status).toBeLessThan(300);
    await done(`/api/tasks/${id}/archive`);
    await done(`/api/tasks/${id}/restore`);
    await done('/api/tasks/bulk-archive', { sprint: 's1' });
    await done(`/api/tasks/${id}/restore`);
    await done(`/api/tasks/${id}/demote`);
    await done(`/api/backlog/${id}/promote`);
    await done('/api/tasks/bulk-update', { taskIds: [id], updates: { priority: 'high' } });
    const found = await entries('actor=agent:worker&limit=7');
    expect(found.map(({ action }: { action: string }) => action)).toEqual([
      ...['tasks.bulk_update', 'task.promoted', 'task.demoted', 'task.restore', 'tasks.bulk_archive'],
      ...['task.restore', 'task.archive'],
    ]);
    expect(found[0].details).toEqual({ taskIds: [id] });
  });

  it('reports nothing of what was refused', async () => {
    const before = (await entries('limit=1'))[0].sequence;
    await board.call('DELETE', '/api/tasks/task_20260101_nobody');
    await board.call('PATCH', '/api/settings/features', { body: { colour: 'red' } });
    expect((await entries('limit=1'))[0].sequence).toBe(before);
  });

  it('records who changed settings, agents and profiles', async () => {
    await board.call('PATCH', '/api/settings/features', { body: { admission: { limits: { global: { runs: 3 } } } } });
    await board.call('PUT', '/api/config/agents', {
      body: { agents: [{ type: 'a', name: 'A', provider: 'process', command: 'true' }] },
    });
    const actions = (await entries('actor=service:admin&limit=2')).map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['agents.update', 'settings.update']);
  });

  it('records who changed lists, templates, and what is shared with agents', async () => {
    const before = (await entries('limit=1'))[0].sequence;
    const make = async (path: string, body: object): Promise<string> => {
      const reply = await board.call('POST', path, { body });
      expect(reply.status).toBe(201);
      return `${path}/${reply.body.id}`;
    };
    const call = async (method: string, path: string, body?: object): Promise<void> =>
      expect((await board.call(method, path, { body })).status).toBeLessThan(300);

    for (const list of ['projects', 'sprints', 'task-types']) {
      const item = await make(`/api/${list}`, { label: 'Audited' });
      await call('PATCH', item, { label: 'Renamed' });
      await call('POST', `/api/${list}/reorder`, { orderedIds: ['audited'] });
      await call('DELETE', item);
    }
    await call('PATCH', await make('/api/templates', { name: 'T', taskDefaults: {} }), { name: 'U' });
    const shared = await make('/api/shared-resources', { name: 'S', type: 'config', content: 'x' });
    await call('PATCH', shared, { content: 'y' });
    await call('POST', `${shared}/mount`, { projectIds: ['a'] });
    await call('POST', `${shared}/unmount`, { projectIds: ['a'] });
    const tracked = await make('/api/doc-freshness', { path: 'README.md', type: 'readme', maxAgeDays: 3 });
    await call('PATCH', tracked, { maxAgeDays: 4 });
    await call('POST', `${tracked}/review`, {});
    await call('DELETE', tracked);

    const made = (await entries('limit=100'))
      .filter(({ sequence }: { sequence: number }) => sequence > before)
      .reverse();
    const verbs = ['create', 'update', 'reorder', 'delete'];
    expect(made.map(({ action }: { action: string }) => action)).toEqual([
      ...['project', 'sprint', 'task-type'].flatMap((list) => verbs.map((verb) => `${list}.${verb}`)),
      ...['template.create', 'template.update'],
      ...['create', 'update', 'mount', 'unmount'].map((verb) => `shared-resource.${verb}`),
      ...['create', 'update', 'review', 'delete'].map((verb) => `tracked-document.${verb}`),
    ]);
    expect(made[1]).toMatchObject({ actor: 'service:admin', resource: 'audited', details: { fields: ['label'] } });
    expect(made[16]).toMatchObject({ details: { added: ['a'], projectIds: ['a'] } });
  });

  it('is intact, and verifies as such', async () => {
    const { status, body } = await board.call('GET', '/api/audit/verify');
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: true, broken: [], month: new Date().toISOString().slice(0, 7) });
  });

  it('is for administrators', async () => {
    expect(await board.call('GET', '/api/audit', { key: agentKey })).toMatchObject({ status: 403 });
    expect(await board.call('GET', '/api/audit/verify', { key: agentKey })).toMatchObject({ status: 403 });
  });

  it.each(['limit=1001', 'limit=0', 'month=2026-13', 'colour=red'])('refuses %s', async (query) => {
    const path = query.startsWith('month') ? '/api/audit/verify' : '/api/audit';
    expect(await board.call('GET', `${path}?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
  });
});
