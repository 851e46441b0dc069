import { type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const get = (path: string) => api.call('GET', `/api/analytics/${path}`, { key: readKey });
const create = async (body: object) => (await api.call('POST', '/api/tasks', { body: { title: 'T', ...body } })).body;

describe('analytics API', () => {
  it('has the timeline and the metrics of what was worked on, by project, sprint and agent', async () => {
    const working = await create({ project: 'p', sprint: 's', agent: 'ant', status: 'in-progress' });
    const entry = await api.call('POST', `/api/tasks/${working.id}/time/entry`, { body: { durationMs: 60_000 } });
    expect(entry.status).toBeLessThan(300);
    const done = await create({ project: 'p', status: 'in-progress' });
    await api.call('PATCH', `/api/tasks/${done.id}`, { body: { status: 'done' } });
    await create({ project: 'other', status: 'in-progress' });
    const timeline = (await get('timeline?project=p&sprint=s&agent=ant')).body;
    expect(timeline.tasks).toMatchObject([{ id: working.id, sprint: 's', agent: 'ant', durationSeconds: 60 }]);
    expect((await get('timeline?project=p&agent=bee')).body.tasks).toEqual([]);
    const metrics = (await get('metrics?project=p')).body;
    expect(metrics.throughput).toMatchObject({ tasksCompleted: 1, tasksCreated: 2 });
    const counts = (await api.call('GET', '/api/metrics/tasks?project=p')).body;
    expect([counts.completed, counts.created]).toEqual([1, 2]);
    expect((await get('metrics?project=p&sprint=s')).body.throughput.tasksCompleted).toBe(0);
    expect((await get('metrics?period=all&project=p')).body.efficiency.totalTaskCount).toBeGreaterThanOrEqual(1);
  });

  it('has the health of the board', async () => {
    await create({ status: 'done' });
    expect((await get('health')).body).toMatchObject({ service: 'analytics', status: 'ok', blocked: 0, stale: 0 });
    const blocked = await Promise.all([1, 2, 3].map(() => create({ status: 'blocked' })));
    expect((await get('health')).body).toMatchObject({ status: 'warning', blocked: blocked.length });
  });

  it.each([
    'timeline?limit=0',
    'timeline?from=2026-01-02&to=2026-01-01',
    'metrics?agent=ant',
    'metrics?tz=No/Zone',
    'health?x=1',
  ])('refuses %s', async (path) => {
    expect(await get(path)).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });
});
