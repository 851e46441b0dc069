import { remedies } from '../../../domain/remedies/remedies';
import { agentKey, type ApiUnderTest, readKey, startWholeTestApi } from '../api-under-test';

describe('next calls of refusals', () => {
  let board: ApiUnderTest;

  beforeAll(async () => {
    board = await startWholeTestApi();
  });
  afterAll(() => board.close());

  it('are operations of the OpenAPI document, whose parameters they name', async () => {
    const { paths } = (await board.call('GET', '/api/openapi.json')).body;
    const steps = Object.values(remedies).flatMap((remedy) => ('none' in remedy ? [] : remedy));
    const wrong = steps.filter(({ call, ids = {} }) => {
      const [method = '', path = ''] = call.split(' ');
      const named = Object.keys(ids).every((name) => path.includes(`/:${name}`));
      const served = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] !== undefined;
      return call !== 'repeat' && call !== 'read' && (!served || !named);
    });
    expect(wrong).toEqual([]);
    expect(steps.length).toBeGreaterThan(100);
  });

  it('read what has changed since it was read', async () => {
    const { id, revision } = await board.createTask();
    await board.call('PATCH', `/api/tasks/${id}`, { body: { title: 'First', expectedRevision: revision } });
    const stale = await board.call('PATCH', `/api/tasks/${id}`, {
      body: { title: 'Second', expectedRevision: revision },
    });
    expect(stale).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', details: { currentRevision: revision + 1 } },
    });
    const { next } = stale.body.details;
    expect(next).toEqual({
      method: 'GET',
      path: `/api/tasks/${id}`,
      remedy: 'Read the present state, and repeat the change with its revision.',
    });
    expect(await board.call(next.method, next.path)).toMatchObject({ status: 200, body: { title: 'First' } });
  });

  it('read the record that has an id already, not the list', async () => {
    const policy = { role: 'reviewer of/drafts', allowed: ['Read'], denied: [], description: 'Reads.' };
    const created = await board.call('POST', '/api/tool-policies', { body: { ...policy, role: 'drafts' } });
    expect(created.status).toBe(201);
    const taken = await board.call('POST', '/api/tool-policies', { body: { ...policy, role: 'drafts' } });
    expect(taken).toMatchObject({
      status: 409,
      body: { details: { next: { method: 'GET', path: '/api/tool-policies/drafts' } } },
    });
  });

  it('lead to where a task is', async () => {
    const { id } = await board.createTask();
    const promoted = await board.call('POST', `/api/backlog/${id}/promote`);
    expect(promoted).toMatchObject({
      status: 409,
      body: { details: { next: { method: 'GET', path: `/api/tasks/${id}` } } },
    });
    await board.call('POST', `/api/tasks/${id}/archive`);
    const archived = await board.call('PATCH', `/api/tasks/${id}`, { body: { title: 'Later' } });
    const { next } = archived.body.details;
    expect([archived.status, next.method, next.path]).toEqual([409, 'POST', `/api/tasks/${id}/restore`]);
    expect((await board.call(next.method, next.path)).status).toBe(200);
  });

  it('stop or start the timer of a task', async () => {
    const { id } = await board.createTask();
    const idle = await board.call('POST', `/api/tasks/${id}/time/stop`);
    expect(idle.body.details.next).toMatchObject({ method: 'POST', path: `/api/tasks/${id}/time/start` });
    await board.call('POST', `/api/tasks/${id}/time/start`);
    const running = await board.call('POST', `/api/tasks/${id}/time/start`);
    expect(running.body.details.next).toMatchObject({ method: 'POST', path: `/api/tasks/${id}/time/stop` });
  });

  it('repeat a request whose key belongs to another one', async () => {
    const headers = { 'Idempotency-Key': 'of-the-first' };
    const { id } = await board.createTask();
    const path = `/api/tasks/${id}/comments`;
    expect((await board.call('POST', path, { headers, body: { author: 'ann', text: 'One' } })).status).toBeLessThan(
      300,
    );
    const reused = await board.call('POST', path, { headers, body: { author: 'ann', text: 'Two' } });
    expect(reused).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_KEY_REUSED', details: { next: { method: 'POST', path } } },
    });
  });

  it('name what else than a conflict is remedied', async () => {
    const read = await board.call('POST', '/api/tasks', { key: readKey, body: { title: 'x' } });
    expect(read).toMatchObject({
      status: 403,
      body: { code: 'WRITE_FORBIDDEN', details: { next: { method: 'GET', path: '/api/auth/context' } } },
    });
    await board.call('PATCH', '/api/settings/features', { body: { analyticsEnabled: false } });
    const off = await board.call('GET', '/api/drift/alerts', { key: agentKey });
    expect(off).toMatchObject({
      status: 403,
      body: { code: 'FEATURE_DISABLED', details: { next: { method: 'PATCH', path: '/api/settings/features' } } },
    });
  });

  it('are not named where nothing helps', async () => {
    const missing = await board.call('GET', '/api/tasks/task_20260101_missing');
    expect(missing.status).toBe(404);
    expect(missing.body.details).not.toHaveProperty('next');
  });
});
