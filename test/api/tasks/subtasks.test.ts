import type { Task } from '../../../contracts/tasks/task';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const add = (id: string, body: unknown, options = {}) =>
  board.call('POST', `/api/tasks/${id}/subtasks`, { body, ...options });
const patch = (id: string, subtaskId: string, body?: unknown, options = {}) =>
  board.call('PATCH', `/api/tasks/${id}/subtasks/${subtaskId}`, { body, ...options });

it('adds a subtask with its criteria and answers the task with it', async () => {
  const { id } = await board.createTask();
  const { status, body, headers } = await add(id, { title: 'Write <b>it</b>', acceptanceCriteria: ['a', 'b'] });
  expect(status).toBe(201);
  expect(body.subtasks).toEqual([
    {
      id: expect.stringMatching(/^subtask_[0-9a-f]{12}$/),
      title: 'Write it',
      completed: false,
      created: expect.any(String),
      acceptanceCriteria: ['a', 'b'],
      criteriaChecked: [false, false],
    },
  ]);
  expect(headers.get('X-Resource-Revision')).toBe('2');
});

describe('subtasks that come with their task', () => {
  const id = expect.stringMatching(/^subtask_[0-9a-f]{12}$/);

  it('may leave their ids to the service', async () => {
    const created = await board.createTask({
      subtasks: [{ title: 'one' }, { id: 'mine', title: 'two', completed: true }],
    });
    expect(created.subtasks).toEqual([
      { id, title: 'one', completed: false, created: expect.any(String) },
      { id: 'mine', title: 'two', completed: true },
    ]);
    const patched = await board.call('PATCH', `/api/tasks/${created.id}`, {
      body: { subtasks: [...created.subtasks, { title: 'three' }] },
    });
    expect(patched.body.subtasks).toMatchObject([...created.subtasks, { id, title: 'three' }]);
    const bulk = { taskIds: [created.id], updates: { subtasks: [{ title: 'only' }] } };
    expect((await board.call('POST', '/api/tasks/bulk-update', { body: bulk })).body.failed).toEqual([]);
    expect((await board.call('GET', `/api/tasks/${created.id}`)).body.subtasks).toMatchObject([{ id, title: 'only' }]);
    const planned = await board.call('POST', '/api/backlog', { body: { title: 'p', subtasks: [{ title: 'one' }] } });
    expect(planned.body.subtasks).toMatchObject([{ id, title: 'one' }]);
  });

  it.each([
    [
      'two of one id',
      [
        { id: 'a', title: 'one' },
        { id: 'a', title: 'two' },
      ],
      'subtasks',
    ],
    ['an unknown field', [{ title: 'one', done: true }], 'subtasks.0.done'],
    ['an id that no path can hold', [{ id: 'x'.repeat(65), title: 'one' }], 'subtasks.0.id'],
  ])('are refused with %s', async (_case, subtasks, path) => {
    const refused = await board.call('POST', '/api/tasks', { body: { title: 'a', subtasks } });
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
  });
});

it('changes and deletes one subtask, and keeps the others', async () => {
  const { id } = await board.createTask();
  const [first] = (await add(id, { title: 'one' }, { key: agentKey })).body.subtasks;
  const [, second] = (await add(id, { title: 'two' })).body.subtasks;
  const changed = await patch(id, first.id, { title: 'uno', completed: true });
  expect(changed.body.subtasks).toEqual([{ ...first, title: 'uno', completed: true }, second]);
  expect(changed.body.status).toBe('todo');
  expect((await patch(id, first.id, { completed: false })).body.subtasks[0].completed).toBe(false);
  const gone = await board.call('DELETE', `/api/tasks/${id}/subtasks/${first.id}`);
  expect(gone.body.subtasks).toEqual([second]);
  expect(await patch(id, first.id, { title: 'x' })).toMatchObject({ status: 404, body: { details: { id: first.id } } });
  expect((await board.call('DELETE', `/api/tasks/${id}/subtasks/${second.id}`)).body.subtasks).toEqual([]);
});

describe('acceptance criteria', () => {
  const subtaskOf = async (criteria: string[]) => {
    const { id } = await board.createTask();
    const [{ id: subtaskId }] = (await add(id, { title: 'one', acceptanceCriteria: criteria })).body.subtasks;
    const toggle = (suffix: string, body?: unknown) =>
      board.call('PATCH', `/api/tasks/${id}/subtasks/${subtaskId}/criteria${suffix}`, { body });
    return { id, subtaskId: subtaskId as string, toggle };
  };

  it('are toggled by their place, in the body or in the path', async () => {
    const { toggle } = await subtaskOf(['a', 'b']);
    expect((await toggle('', { criteriaIndex: 1 })).body.subtasks[0].criteriaChecked).toEqual([false, true]);
    expect((await toggle('/0')).body.subtasks[0].criteriaChecked).toEqual([true, true]);
    expect((await toggle('', { criteriaIndex: 1 })).body.subtasks[0].criteriaChecked).toEqual([true, false]);
  });

  it('stay checked when the list is written again', async () => {
    const { id, subtaskId, toggle } = await subtaskOf(['a', 'b']);
    await toggle('/1');
    const { body } = await patch(id, subtaskId, { acceptanceCriteria: ['new', 'b', 'a'] });
    expect(body.subtasks[0]).toMatchObject({
      acceptanceCriteria: ['new', 'b', 'a'],
      criteriaChecked: [false, true, false],
    });
  });

  it('that are not there are refused', async () => {
    const { toggle } = await subtaskOf(['a']);
    expect(await toggle('', { criteriaIndex: 1 })).toMatchObject({
      status: 404,
      body: { details: { resource: 'criterion', id: '1' } },
    });
    expect(await toggle('/1')).toMatchObject({ status: 404 });
    for (const [suffix, body, path] of [
      ['', { criteriaIndex: -1 }, 'criteriaIndex'],
      ['', { criteriaIndex: 0.5 }, 'criteriaIndex'],
      ['', {}, 'criteriaIndex'],
      ['/first', undefined, 'index'],
      ['/%20', undefined, 'index'],
    ] as const) {
      const refused = await toggle(suffix, body);
      expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
    }
  });

  it('lose none of twenty toggles that come at once', async () => {
    const criteria = Array.from({ length: 20 }, (_, number) => `criterion ${number}`);
    const { id, toggle } = await subtaskOf(criteria);
    await Promise.all(criteria.map((_text, index) => toggle(`/${index}`)));
    const { body } = await board.call('GET', `/api/tasks/${id}`);
    expect(body.subtasks[0].criteriaChecked).toEqual(criteria.map(() => true));
  });
});

describe('a task with autoCompleteOnSubtasks', () => {
  const withSubtasks = async (fields = {}) => {
    const task = await board.createTask({ autoCompleteOnSubtasks: true, ...fields });
    await add(task.id, { title: 'one' });
    const { body } = await add(task.id, { title: 'two' });
    return { id: task.id, subtasks: body.subtasks as Task['subtasks'] };
  };

  it('is done in the same step as its last open subtask', async () => {
    const { id, subtasks } = await withSubtasks({ status: 'blocked', blockedReason: { category: 'other' } });
    const [first, second] = subtasks.map((subtask) => subtask.id);
    expect((await patch(id, first!, { completed: true })).body).toMatchObject({ status: 'blocked', revision: 4 });
    const { body } = await patch(id, second!, { completed: true });
    expect(body).toMatchObject({ status: 'done', revision: 5 });
    expect(body).not.toHaveProperty('blockedReason');
  });

  it('is done by a patch of the task that completes them all, unless that states another status', async () => {
    const { id, subtasks } = await withSubtasks();
    const all = subtasks.map((subtask) => ({ ...subtask, completed: true }));
    const other = await board.call('PATCH', `/api/tasks/${id}`, { body: { subtasks: all, status: 'in-progress' } });
    expect(other.body.status).toBe('in-progress');
    await board.call('PATCH', `/api/tasks/${id}`, { body: { subtasks } });
    expect((await board.call('PATCH', `/api/tasks/${id}`, { body: { subtasks: all } })).body.status).toBe('done');
  });

  it('stays as it is when a subtask is renamed, or the last open one is deleted', async () => {
    const { id, subtasks } = await withSubtasks();
    const [first, second] = subtasks.map((subtask) => subtask.id);
    await patch(id, first!, { completed: true });
    expect((await board.call('DELETE', `/api/tasks/${id}/subtasks/${second}`)).body.status).toBe('todo');
    expect((await patch(id, first!, { title: 'renamed' })).body.status).toBe('todo');
  });

  it('is done once when the subtasks are completed at the same time', async () => {
    const { id, subtasks } = await withSubtasks();
    const replies = await Promise.all(subtasks.map((subtask) => patch(id, subtask.id, { completed: true })));
    expect(replies.map(({ body }) => body.status).sort()).toEqual(['done', 'todo']);
  });
});

it.each([
  ['no title', {}, 'title'],
  ['a title of tags only', { title: '<br>' }, 'title'],
  ['a title too long', { title: 'x'.repeat(201) }, 'title'],
  ['an empty criterion', { title: 'a', acceptanceCriteria: ['a', ''] }, 'acceptanceCriteria.1'],
  ['a criterion of tags only', { title: 'a', acceptanceCriteria: ['<p>'] }, 'acceptanceCriteria.0'],
  ['a field that is none', { title: 'a', done: true }, 'done'],
])('refuses %s by the path of the field', async (_case, body, path) => {
  const { id } = await board.createTask();
  const refused = await add(id, body);
  expect(refused.status).toBe(400);
  expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
});

it('takes at most 500 subtasks', async () => {
  const subtasks = Array.from({ length: 500 }, (_, number) => ({ id: `s${number}`, title: 'one' }));
  const { id } = await board.createTask({ subtasks });
  const refused = await add(id, { title: 'one more' });
  expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, 'subtasks']);
});

it('needs a task, the permission to write, and the revision the caller states', async () => {
  const { id } = await board.createTask();
  expect(await add('task_20260101_nobody', { title: 'a' })).toMatchObject({ status: 404 });
  expect(await add(id, { title: 'a' }, { key: readKey })).toMatchObject({ status: 403 });
  expect(await add(id, { title: 'a', expectedRevision: 9 })).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  const headers = { 'If-Match': `"task:${id}:1"` };
  const replies = await Promise.all(Array.from({ length: 4 }, () => add(id, { title: 'mine' }, { headers })));
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
});
