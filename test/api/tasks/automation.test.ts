import { type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('automation API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const anAutomation = async (fields: object = {}) => (await board.createTask({ type: 'automation', ...fields })).id;
  const send = (id: string, verb: 'start' | 'complete', body: object = {}, options = {}) =>
    board.call('POST', `/api/automation/${id}/${verb}`, { body, ...options });
  const idsOf = async (list: 'pending' | 'running') =>
    (await board.call('GET', `/api/automation/${list}`)).body.map(({ id }: { id: string }) => id);
  const taskOf = async (id: string) => (await board.call('GET', `/api/tasks/${id}`)).body;

  it('is pending, is running once it is started, and is done once it is complete', async () => {
    const id = await anAutomation({ title: 'Rotate', description: 'All of them.' });
    expect(await idsOf('pending')).toContain(id);
    const { status, body } = await send(id, 'start', { sessionKey: 'agent:main:7' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { taskId: id, title: 'Rotate', description: 'All of them.', automation: { sessionKey: 'agent:main:7' } },
    });
    expect(await taskOf(id)).toMatchObject({
      status: 'in-progress',
      automation: { id: body.attemptId, status: 'running' },
    });
    expect(await idsOf('pending')).not.toContain(id);
    expect(await idsOf('running')).toContain(id);

    const done = await send(id, 'complete', { status: 'complete', result: 'Rotated 7.', attemptId: body.attemptId });
    expect(done).toMatchObject({
      status: 200,
      body: { taskId: id, status: 'done', automation: { result: 'Rotated 7.' } },
    });
    expect(await idsOf('running')).not.toContain(id);
    expect((await send(id, 'start')).status).toBe(409);
  });

  it('is blocked with the reason once it failed, and can be started again', async () => {
    const id = await anAutomation();
    const first = (await send(id, 'start')).body.attemptId;
    await send(id, 'complete', { status: 'failed', result: 'No access.' });
    expect(await taskOf(id)).toMatchObject({
      status: 'blocked',
      blockedReason: { category: 'technical-snag', note: 'No access.' },
    });
    const second = (await send(id, 'start')).body.attemptId;
    expect(second).not.toBe(first);
    expect((await taskOf(id)).blockedReason).toBeUndefined();
    // The session of the first start is too late.
    const late = await send(id, 'complete', { status: 'complete', attemptId: first });
    expect(late).toMatchObject({ status: 409, body: { code: 'AUTOMATION_NOT_RUNNING' } });
  });

  it('is started by one of any number of sessions', async () => {
    const id = await anAutomation();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => send(id, 'start', { sessionKey: `s${n}` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body).toMatchObject({ code: 'AUTOMATION_RUNNING', details: { next: { method: 'POST' } } });
  });

  it('is started once by a request that is repeated under its key', async () => {
    const id = await anAutomation();
    const headers = { 'Idempotency-Key': `start-${id}` };
    const [one, two] = [await send(id, 'start', {}, { headers }), await send(id, 'start', {}, { headers })];
    expect(two.body).toEqual(one.body);
  });

  it('reads what a person has written into the file of the task', async () => {
    const id = await anAutomation();
    await board.api.context.board.update(id, () => ({ automation: { spawnedAt: '2026-01-05T10:00:00Z' } }), {
      actor: 'user:ada',
    });
    expect(await idsOf('running')).toContain(id);
    expect((await send(id, 'complete', { status: 'complete' })).body).toMatchObject({ status: 'done' });
  });

  it('refuses tasks of another type, what is not started, unknown fields and readers', async () => {
    const other = (await board.createTask()).id;
    expect((await send(other, 'start')).status).toBe(400);
    const id = await anAutomation();
    expect((await send(id, 'complete', { status: 'complete' })).status).toBe(409);
    expect((await send(id, 'complete', { status: 'done' })).status).toBe(400);
    expect((await send(id, 'start', { attemptId: 'x' })).status).toBe(400);
    expect((await send(id, 'start', { expectedRevision: 7 })).status).toBe(409);
    expect((await send('task_20260101_nobody', 'start')).status).toBe(404);
    expect((await send(id, 'start', {}, { key: readKey })).status).toBe(403);
    const patched = await board.call('PATCH', `/api/tasks/${id}`, { body: { automation: { status: 'complete' } } });
    expect(patched.status).toBe(400);
  });
});
