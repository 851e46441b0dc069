import type { NewTask } from '../../support/factories/task';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const call = (method: string, rest = '', options: CallOptions = {}) =>
  board.call(method, `/api/ceremonies${rest}`, options);
const enforce = (ceremonyDesignReview: string, ceremonyFailureRetrospective = 'off') =>
  board.call('PATCH', '/api/settings/features', {
    body: { enforcement: { ceremonyDesignReview, ceremonyFailureRetrospective } },
  });
const aTask = (fields: Partial<NewTask> = {}) => board.createTask({ priority: 'high', ...fields });
const finish = (id: string, more: object = {}, headers: Record<string, string> = {}) =>
  board.call('PATCH', `/api/tasks/${id}`, { body: { status: 'done', ...more }, headers });
const ofTask = async (id: string) => (await call('GET', `?taskId=${id}`)).body;
const tracesOf = async (id: string) =>
  (await board.call('GET', `/api/governance/traces?kind=ceremony&taskId=${id}`)).body;
const packet = { artifacts: [{ kind: 'decision-packet', title: '<b>Packet</b>', body: 'As it is.' }] };

it('are created, listed by what they are, and completed once', async () => {
  const { id: taskId } = await aTask();
  const body = {
    kind: 'failure_retrospective',
    title: 'What went wrong',
    reason: 'It broke',
    target: { taskId, ciUrl: 'https://example.org/ci' },
    participants: [{ role: 'reviewer', agent: 'ant' }],
    requiredArtifacts: ['action-items'],
  };
  const made = await call('POST', '', { body });
  expect(made).toMatchObject({ status: 201, body: { ...body, status: 'pending', enforcementMode: 'warn' } });
  const { id } = made.body;
  expect(id).toMatch(/^ceremony_[0-9a-f]{12}$/);
  for (const query of [`taskId=${taskId}`, 'kind=failure_retrospective', 'status=pending&limit=500']) {
    expect((await call('GET', `?${query}`, { key: agentKey })).body).toContainEqual(made.body);
  }
  expect((await call('GET', '?kind=design_review')).body).not.toContainEqual(made.body);

  expect(await call('POST', `/${id}/complete`, { body: {} })).toMatchObject({
    status: 400,
    body: { details: { issues: [{ path: 'artifacts', message: 'action-items is missing' }] } },
  });
  const outcome = { actionItems: [{ title: 'Test it', priority: 'high' }] };
  const replies = await Promise.all([1, 2, 3, 4].map(() => call('POST', `/${id}/complete`, { body: outcome })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  const completed = replies.find(({ status }) => status === 200)!.body;
  expect(completed).toMatchObject({ ...outcome, status: 'completed', completedBy: expect.stringContaining('admin') });
  expect(replies.find(({ status }) => status === 409)!.body.details.current).toEqual(completed);
  expect((await call('GET', '?status=completed')).body).toContainEqual(completed);
});

it.each([
  [{ kind: 'party' }, 'kind'],
  [{ kind: 'design_review', target: { taskId: '../x' } }, 'target.taskId'],
  [{ kind: 'design_review', target: { prUrl: 'no' } }, 'target.prUrl'],
  [{ kind: 'design_review', participants: [{ role: 'king' }] }, 'participants.0.role'],
  [{ kind: 'design_review', requiredArtifacts: ['cake'] }, 'requiredArtifacts.0'],
  [{ kind: 'design_review', status: 'completed' }, 'status'],
])('are refused as %p by the path of the field', async (body, path) => {
  expect(await call('POST', '', { body })).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } });
});

it('are of tasks that there are, and are found to be completed', async () => {
  const body = { kind: 'design_review', target: { taskId: 'task_20260101_nobody' } };
  expect(await call('POST', '', { body })).toMatchObject({ status: 404, body: { details: { resource: 'task' } } });
  expect(await call('POST', '/ceremony_000000000000/complete', { body: {} })).toMatchObject({ status: 404 });
});

it('need workflow:read and workflow:write', async () => {
  const body = { kind: 'design_review' };
  expect(await call('POST', '', { body, key: agentKey })).toMatchObject({
    status: 403,
    body: { details: { required: ['workflow:write'] } },
  });
  expect(await call('POST', '/ceremony_000000000000/complete', { body: {}, key: agentKey })).toMatchObject({
    status: 403,
  });
  expect(await call('GET', '', { key: readKey })).toMatchObject({ status: 200 });
});

describe('a task that is to be done', () => {
  it('needs none while nothing is enforced', async () => {
    await enforce('off');
    const { id } = await aTask();
    expect(await finish(id)).toMatchObject({ status: 200, body: { status: 'done' } });
    expect(await ofTask(id)).toEqual([]);
  });

  it('is refused until the blocking one is completed', async () => {
    await enforce('block');
    const { id, revision } = await aTask();
    const refused = await finish(id);
    const [opened, ...more] = await ofTask(id);
    expect(more).toEqual([]);
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: 'VALIDATION_ERROR',
        details: {
          code: 'CEREMONY_REQUIRED',
          ceremonies: [{ id: opened.id, kind: 'design_review', complete: `/api/ceremonies/${opened.id}/complete` }],
          issues: [{ path: 'status', code: 'CEREMONY_REQUIRED' }],
        },
      },
    });
    expect((await board.call('GET', `/api/tasks/${id}`)).body).toMatchObject({ status: 'todo', revision });
    expect(await tracesOf(id)).toMatchObject([{ id: refused.body.details.traceId, outcome: 'blocked' }]);

    await Promise.all([1, 2, 3].map(() => finish(id)));
    expect(await ofTask(id)).toHaveLength(1);
    expect((await call('POST', `/${opened.id}/complete`, { body: packet })).body.artifacts[0].title).toBe('Packet');
    expect(await finish(id)).toMatchObject({ status: 200, body: { status: 'done' } });
  });

  it('goes through with a warning, which is written down', async () => {
    await enforce('warn');
    const { id } = await aTask();
    expect(await finish(id)).toMatchObject({ status: 200, body: { status: 'done' } });
    expect(await ofTask(id)).toMatchObject([{ kind: 'design_review', status: 'pending', enforcementMode: 'warn' }]);
    expect(await tracesOf(id)).toMatchObject([{ outcome: 'warned', subject: { actionType: 'task.complete' } }]);
    await finish(id, { title: 'Done still' });
    expect(await tracesOf(id)).toHaveLength(1);
  });

  it('is asked about its revision before its ceremonies', async () => {
    await enforce('warn');
    const { id } = await aTask();
    await board.call('PATCH', `/api/tasks/${id}`, { body: { title: 'Changed' } });
    expect(await finish(id, {}, { 'If-Match': '1' })).toMatchObject({ status: 409 });
    expect(await ofTask(id)).toEqual([]);
    expect(await finish(id, {}, { 'If-Match': '2' })).toMatchObject({ status: 200 });
  });

  it('is changed as before in any other way, and so are tasks that need none', async () => {
    await enforce('block');
    const { id } = await aTask();
    const patch = (body: object) => board.call('PATCH', `/api/tasks/${id}`, { body });
    expect(await patch({ status: 'in-progress' })).toMatchObject({ status: 200 });
    expect(await finish((await aTask({ type: 'research' })).id)).toMatchObject({ status: 200 });
    expect(await finish('task_20260101_nobody')).toMatchObject({ status: 404 });
  });

  it('waits for a requested ceremony', async () => {
    await enforce('block');
    const { id } = await aTask({ type: 'research' });
    const wanted = await call('POST', '', { body: { kind: 'design_review', target: { taskId: id } } });
    expect(await finish(id)).toMatchObject({
      status: 400,
      body: { details: { ceremonies: [{ id: wanted.body.id }] } },
    });
    await call('POST', `/${wanted.body.id}/complete`, { body: {} });
    expect(await finish(id)).toMatchObject({ status: 200 });
  });

  it('looks back at the attempt that failed', async () => {
    await enforce('off', 'block');
    const { id } = await aTask({ type: 'research' });
    const attempt = { id: 'attempt_ab12cd34', agent: 'ant', status: 'failed' as const, result: 'failed' as const };
    await board.api.context.board.update(id, () => ({ attempt }), { actor: 'agent:ant' });
    expect(await finish(id)).toMatchObject({
      status: 400,
      body: { details: { ceremonies: [{ kind: 'failure_retrospective', requiredArtifacts: ['retrospective'] }] } },
    });
    expect(await ofTask(id)).toMatchObject([{ target: { taskId: id, runId: attempt.id } }]);
  });

  it('is held back among many at once, and lets the others go', async () => {
    await enforce('block');
    const [risky, harmless] = [await aTask(), await aTask({ type: 'research' })];
    const body = { taskIds: [risky.id, harmless.id], updates: { status: 'done' } };
    expect((await board.call('POST', '/api/tasks/bulk-update', { body })).body).toMatchObject({
      updated: [harmless.id],
      failed: [{ id: risky.id, error: expect.stringContaining('ceremony') }],
    });
  });

  it('is held back in the backlog', async () => {
    await enforce('block');
    const { id } = await aTask();
    await board.call('POST', `/api/tasks/${id}/demote`);
    const refused = await board.call('PATCH', `/api/backlog/${id}`, { body: { status: 'done' } });
    expect(refused).toMatchObject({ status: 400, body: { details: { code: 'CEREMONY_REQUIRED' } } });
  });

  it('is held back when its last subtask completes it', async () => {
    await enforce('block');
    const { id } = await aTask({ autoCompleteOnSubtasks: true });
    const added = await board.call('POST', `/api/tasks/${id}/subtasks`, { body: { title: 'The only one' } });
    const path = `/api/tasks/${id}/subtasks/${added.body.subtasks[0].id}`;
    const complete = () => board.call('PATCH', path, { body: { completed: true } });
    expect(await complete()).toMatchObject({ status: 400, body: { details: { code: 'CEREMONY_REQUIRED' } } });
    const { body: held } = await board.call('GET', `/api/tasks/${id}`);
    expect(held).toMatchObject({ status: 'todo', subtasks: [{ completed: false }] });
    const [{ id: ceremony }] = await ofTask(id);
    await call('POST', `/${ceremony}/complete`, { body: packet });
    expect(await complete()).toMatchObject({ status: 200, body: { status: 'done' } });
  });
});

describe('a blocking ceremony', () => {
  beforeEach(() => enforce('block'));
  afterAll(() => enforce('off'));

  const statusOf = async (id: string) => (await board.call('GET', `/api/tasks/${id}`)).body.status;
  const patch = (id: string, body: object) => board.call('PATCH', `/api/tasks/${id}`, { body });
  const open = [{ id: 'a', title: 'one', completed: false }];
  const completed = [{ id: 'a', title: 'one', completed: true }];

  /** Every way on which a task becomes `done`: each returns its last response. */
  const ways: Record<string, (id: string) => Promise<{ status: number; body: { failed?: unknown[] } }>> = {
    'a change': (id) => finish(id),
    'a change of the priority with it': (id) => finish(id, { priority: 'low' }),
    'a lower priority before': async (id) => {
      await patch(id, { priority: 'low' });
      return finish(id);
    },
    'a change of the type with it': (id) => finish(id, { type: 'content' }),
    'another type before': async (id) => {
      expect(await patch(id, { type: 'content' })).toMatchObject({ status: 200 });
      return finish(id);
    },
    'a change of many tasks': (id) =>
      board.call('POST', '/api/tasks/bulk-update', { body: { ids: [id], status: 'done' } }),
    'another type of many tasks before': async (id) => {
      await board.call('POST', '/api/tasks/bulk-update', { body: { ids: [id], updates: { type: 'content' } } });
      return finish(id);
    },
    'the last subtask': async (id) => {
      await patch(id, { subtasks: open, autoCompleteOnSubtasks: true });
      return board.call('PATCH', `/api/tasks/${id}/subtasks/a`, { body: { completed: true } });
    },
    'the last subtask in a change': async (id) => {
      await patch(id, { subtasks: open, autoCompleteOnSubtasks: true });
      return patch(id, { subtasks: completed });
    },
    'archive and restore': async (id) => {
      expect(await board.call('POST', `/api/tasks/${id}/archive`)).toMatchObject({ status: 200 });
      return board.call('POST', `/api/tasks/${id}/restore`);
    },
    'archive of many and restore': async (id) => {
      await board.call('POST', '/api/tasks/bulk-archive-by-ids', { body: { ids: [id] } });
      return board.call('POST', `/api/tasks/${id}/restore`);
    },
    'deletion and restore': async (id) => {
      expect(await board.call('DELETE', `/api/tasks/${id}`)).toMatchObject({ status: 204 });
      return board.call('POST', `/api/tasks/${id}/restore`);
    },
    'the backlog': async (id) => {
      await board.call('POST', `/api/tasks/${id}/demote`);
      return board.call('PATCH', `/api/backlog/${id}`, { body: { status: 'done' } });
    },
    'the backlog and back': async (id) => {
      await board.call('POST', `/api/tasks/${id}/demote`);
      await board.call('POST', `/api/backlog/${id}/promote`);
      return finish(id);
    },
  };

  it.each(Object.keys(ways))('holds on the way of %s', async (way) => {
    for (const priority of ['low', 'medium', 'high', 'critical'] as const) {
      const { id } = await aTask({ priority });
      const { status, body } = await ways[way]!(id);
      expect([priority, status, body.failed?.length ?? 1]).toEqual([priority, body.failed ? 200 : 400, 1]);
      expect(await statusOf(id)).not.toBe('done');
      const [opened] = await ofTask(id);
      await call('POST', `/${opened.id}/complete`, { body: packet });
      const restored = await board.call('POST', `/api/tasks/${id}/restore`);
      expect([200, 409]).toContain(restored.status);
      expect(await finish(id)).toMatchObject({ status: 200, body: { status: 'done' } });
    }
  });

  it('holds when a task is created as done', async () => {
    const body = { title: 'Done already', status: 'done' };
    expect(await board.call('POST', '/api/tasks', { body })).toMatchObject({
      status: 400,
      body: {
        details: {
          code: 'CEREMONY_REQUIRED',
          ceremonies: [{ kind: 'design_review', requiredArtifacts: ['decision-packet'] }],
          traceId: expect.stringMatching(/^trace_/),
          issues: [{ path: 'status' }],
        },
      },
    });
    const others = await board.call('POST', '/api/tasks', { body: { ...body, type: 'research' } });
    expect(others).toMatchObject({ status: 201, body: { status: 'done' } });
    await enforce('warn');
    const warned = await board.call('POST', '/api/tasks', { body });
    expect(warned).toMatchObject({ status: 201, body: { status: 'done' } });
    expect(await ofTask(warned.body.id)).toMatchObject([{ status: 'pending', enforcementMode: 'warn' }]);
    expect(await tracesOf(warned.body.id)).toMatchObject([{ outcome: 'warned' }]);
  });

  it('lets a task that was done before be restored, and a done task be changed', async () => {
    await enforce('off');
    const { id } = await aTask();
    await finish(id);
    await board.call('POST', `/api/tasks/${id}/archive`);
    await enforce('block');
    expect(await board.call('POST', `/api/tasks/${id}/restore`)).toMatchObject({
      status: 200,
      body: { status: 'done' },
    });
    expect(await patch(id, { type: 'content' })).toMatchObject({ status: 200 });
    expect(await ofTask(id)).toEqual([]);
  });
});
