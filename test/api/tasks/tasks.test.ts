import type { Task } from '../../../contracts/tasks/task';
import { agentKey, type ApiUnderTest, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const create = async (fields: Record<string, unknown> = {}): Promise<Task> => {
  const { status, body } = await board.call('POST', '/api/tasks', { body: { title: 'A task', ...fields } });
  expect(status).toBe(201);
  return body as Task;
};

describe('POST /api/tasks', () => {
  it('creates a task with the defaults, its headers and its creator', async () => {
    const { status, headers, body } = await board.call('POST', '/api/tasks', {
      key: agentKey,
      body: { title: 'Ship it', project: 'atlas', assignee: 'ada', description: '# Why\n<b>kept</b>' },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      title: 'Ship it',
      status: 'todo',
      priority: 'medium',
      type: 'code',
      project: 'atlas',
      assignee: 'ada',
      description: '# Why\n<b>kept</b>',
      revision: 1,
      createdBy: 'agent:worker',
    });
    expect(headers.get('ETag')).toBe(`"task:${body.id}:1"`);
    expect(headers.get('X-Resource-Revision')).toBe('1');
    expect(headers.get('Location')).toBe(`/api/tasks/${body.id}`);
    expect(headers.get('Last-Modified')).toBe(new Date(body.updatedAt).toUTCString());
  });

  it('takes every field a patch takes', async () => {
    const fields = {
      status: 'blocked',
      priority: 'high',
      type: 'bug',
      sprint: '12',
      agent: 'claude',
      executionPolicy: { commitPolicy: 'allowed' },
      git: { repo: 'atlas', baseBranch: 'main' },
      github: { issueNumber: 7, repo: 'acme/atlas' },
      subtasks: [{ id: 's1', title: 'First', completed: false }],
      autoCompleteOnSubtasks: true,
      blockedReason: { category: 'other', note: 'waiting' },
      plan: 'think',
      position: 3,
    };
    expect(await create(fields)).toMatchObject(fields);
  });

  it('removes tags from titles', async () => {
    const task = await create({ title: 'Fix <script>x</script>', subtasks: [{ id: 's', title: '<i>one</i>' }] });
    expect(task.title).toBe('Fix x');
    expect(task.subtasks[0]?.title).toBe('one');
  });

  it.each([
    ['no title', {}, 'title'],
    ['a title of tags only', { title: '<br>' }, 'title'],
    ['a title that is no text', { title: 7 }, 'title'],
    ['a title too long', { title: 'x'.repeat(201) }, 'title'],
    ['a control character', { title: 'a\u0000b' }, 'title'],
    ['a status that is no column', { title: 'a', status: 'cancelled' }, 'status'],
    ['an unknown field', { title: 'a', colour: 'red' }, 'colour'],
    [
      'a base branch that is an option',
      { title: 'a', git: { repo: 'a', baseBranch: '--upload-pack=/x' } },
      'git.baseBranch',
    ],
    ['a base branch that is a range', { title: 'a', git: { repo: 'a', baseBranch: 'main..x' } }, 'git.baseBranch'],
    ['an unknown field further in', { title: 'a', git: { repo: 'a', sha: 'x' } }, 'git.sha'],
    ['an attempt, which only runs set', { title: 'a', attempt: { id: 'attempt_12345678' } }, 'attempt'],
    ['a wrong item of a list', { title: 'a', subtasks: [{ id: 's', title: '' }] }, 'subtasks.0.title'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await board.call('POST', '/api/tasks', { body });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ error: 'Validation failed', code: 'VALIDATION_ERROR' });
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });
});

describe('git', () => {
  const unusable = [
    'a b',
    '-x',
    'a..b',
    '@{',
    '@',
    'HEAD',
    'a.lock',
    'a/',
    '/a',
    'a//b',
    '.a',
    'a~1',
    'refs/heads/main',
  ];
  it.each(['branch', 'baseBranch'])('takes no %s that git cannot use', async (field) => {
    const { id } = await create();
    for (const name of unusable) {
      const refusal = { status: 400, body: { details: { issues: [{ path: `git.${field}` }] } } };
      const git = { [field]: name };
      expect(await board.call('POST', '/api/tasks', { body: { title: 'a', git } })).toMatchObject(refusal);
      expect(await board.call('PATCH', `/api/tasks/${id}`, { body: { git } })).toMatchObject(refusal);
    }
    const git = { [field]: 'feature/größe-1.2' };
    expect(await board.call('PATCH', `/api/tasks/${id}`, { body: { git } })).toMatchObject({
      status: 200,
      body: { git },
    });
  });

  it('is read with the branch that a hand has written, and the task can be changed', async () => {
    const { id } = await create();
    const fields = { git: { branch: 'refs/heads/main', baseBranch: 'a b' } };
    await board.api.context.board.update(id, () => fields, { actor: 'user:ada' });
    const changed = await board.call('PATCH', `/api/tasks/${id}`, { body: { priority: 'low' } });
    expect(changed).toMatchObject({ status: 200, body: fields });
  });
});

describe('git of a task with a run', () => {
  const patch = (id: string, git: unknown) => board.call('PATCH', `/api/tasks/${id}`, { body: { git } });

  it('keeps its repository and its branch until the run ends', async () => {
    const { activeRuns } = board.api.context;
    const git = { repo: 'atlas', baseBranch: 'main' };
    const { id } = await create({ git });
    await activeRuns.take(id, 'attempt_waiting1');
    for (const other of [{ ...git, branch: 'other' }, { ...git, repo: 'else' }, null]) {
      expect(await patch(id, other)).toMatchObject({
        status: 409,
        body: { details: { resourceId: id, attemptId: 'attempt_waiting1', git } },
      });
    }
    expect(await patch(id, { ...git, prNumber: 7, prUrl: 'https://example.test/7' })).toMatchObject({ status: 200 });
    expect(await patch(id, { ...git, branch: `board/${id}` })).toMatchObject({ status: 200 });
    await activeRuns.release(id, 'attempt_waiting1');
    expect(await patch(id, { ...git, branch: 'other' })).toMatchObject({
      status: 200,
      body: { git: { branch: 'other' } },
    });
  });
});

describe('GET /api/tasks/:id', () => {
  it('answers the task, and 304 to who has it already', async () => {
    const task = await create();
    const read = await board.call('GET', `/api/tasks/${task.id}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(task);
    const tag = read.headers.get('ETag') ?? '';
    const again = await board.call('GET', `/api/tasks/${task.id}`, {
      headers: { 'If-None-Match': `"other", W/${tag}` },
    });
    expect(again.status).toBe(304);
    expect(again.body).toBe('');
    expect(again.headers.get('ETag')).toBe(tag);
    await board.call('PATCH', `/api/tasks/${task.id}`, { body: { priority: 'low' } });
    const changed = await board.call('GET', `/api/tasks/${task.id}`, { headers: { 'If-None-Match': tag } });
    expect(changed.status).toBe(200);
  });

  it('reports which task is missing', async () => {
    const missing = await board.call('GET', '/api/tasks/task_20260101_nobody');
    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({
      code: 'NOT_FOUND',
      details: { resource: 'task', id: 'task_20260101_nobody' },
    });
  });
});

describe('PATCH /api/tasks/:id', () => {
  const stale = (id: string, given: number, current: number) => ({
    code: 'CONFLICT',
    details: {
      resourceType: 'task',
      resourceId: id,
      expectedRevision: given,
      currentRevision: current,
      current: { id, revision: current },
    },
  });

  it('changes the given fields and counts the revision', async () => {
    const task = await create({ assignee: 'ada' });
    const { status, headers, body } = await board.call('PATCH', `/api/tasks/${task.id}`, {
      body: { status: 'in-progress' },
      key: agentKey,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'in-progress', assignee: 'ada', revision: 2, updatedBy: 'agent:worker' });
    expect(headers.get('ETag')).toBe(`"task:${task.id}:2"`);
  });

  it.each([
    ['If-Match', (id: string) => ({ headers: { 'If-Match': `"task:${id}:1"` } })],
    ['a weak If-Match', (id: string) => ({ headers: { 'If-Match': `W/"task:${id}:1"` } })],
    ['X-Resource-Revision', () => ({ headers: { 'X-Resource-Revision': '1' } })],
    ['expectedRevision', () => ({ expectedRevision: 1 })],
  ])('compares with the revision in %s', async (_case, state) => {
    const task = await create();
    const { headers, ...body } = { headers: {}, ...state(task.id) };
    const patch = () => board.call('PATCH', `/api/tasks/${task.id}`, { headers, body: { ...body, priority: 'low' } });
    expect((await patch()).status).toBe(200);
    const refused = await patch();
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject(stale(task.id, 1, 2));
  });

  it('accepts a list of revisions when the current one is among them', async () => {
    const { id } = await create();
    const patch = (list: string) =>
      board.call('PATCH', `/api/tasks/${id}`, { headers: { 'If-Match': list }, body: { priority: 'low' } });
    expect((await patch(`"task:${id}:9", "task:${id}:1"`)).status).toBe(200);
    expect((await patch(`"task:${id}:9", "task:${id}:1"`)).status).toBe(409);
  });

  it.each(['"latest"', '"task:task_20260101_zzzzzz:1"'])('refuses the header %s', async (header) => {
    const { id } = await create();
    const refused = await board.call('PATCH', `/api/tasks/${id}`, {
      headers: { 'If-Match': header },
      body: { priority: 'low' },
    });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues[0].path).toBe('If-Match');
  });

  it.each([2, 20])('lets exactly one of %i writers with the same revision win', async (writers) => {
    const { id } = await create();
    const replies = await Promise.all(
      Array.from({ length: writers }, (_, writer) =>
        board.call('PATCH', `/api/tasks/${id}`, {
          headers: { 'If-Match': `"task:${id}:1"` },
          body: { title: `writer ${writer}` },
        }),
      ),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array<number>(writers - 1).fill(409)]);
    const winner = replies.find(({ status }) => status === 200);
    const read = await board.call('GET', `/api/tasks/${id}`);
    expect(read.body).toMatchObject({ revision: 2, title: winner?.body.title });
  });

  it('loses none of many changes without a revision', async () => {
    const { id } = await create();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => board.call('PATCH', `/api/tasks/${id}`, { body: { position: index } })),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect((await board.call('GET', `/api/tasks/${id}`)).body.revision).toBe(21);
  });

  it('forgets the reason when a task leaves blocked, and when it is null', async () => {
    const blockedReason = { category: 'technical-snag', note: 'no key' };
    const left = await create({ status: 'blocked', blockedReason });
    const todo = await board.call('PATCH', `/api/tasks/${left.id}`, { body: { status: 'todo' } });
    expect(todo.body.blockedReason).toBeUndefined();
    const nulled = await create({ status: 'blocked', blockedReason });
    const cleared = await board.call('PATCH', `/api/tasks/${nulled.id}`, { body: { blockedReason: null } });
    expect(cleared.body).toMatchObject({ status: 'blocked' });
    expect(cleared.body.blockedReason).toBeUndefined();
  });

  it('takes away what a task may be without when it is null', async () => {
    const optional = {
      project: 'shop',
      sprint: 'march',
      assignee: 'ann',
      agent: 'example',
      executionPolicy: { commitPolicy: 'allowed' },
      git: { repo: 'shop' },
      github: { issueNumber: 7, repo: 'acme/shop' },
      autoCompleteOnSubtasks: true,
      plan: 'first this, then that',
      position: 3,
    };
    const { id } = await create(optional);
    const nothing = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));
    const patched = await board.call('PATCH', `/api/tasks/${id}`, { body: nothing });
    expect(patched.status).toBe(200);
    const { body } = await board.call('GET', `/api/tasks/${id}`);
    for (const name of Object.keys(optional)) {
      expect(body).not.toHaveProperty(name);
    }
    const untitled = await board.call('PATCH', `/api/tasks/${id}`, { body: { title: null } });
    expect([untitled.status, untitled.body.details.issues[0].path]).toEqual([400, 'title']);
  });

  it('leaves the attempt to the runs', async () => {
    const { id } = await create();
    const refused = await board.call('PATCH', `/api/tasks/${id}`, { body: { attempt: { id: 'attempt_12345678' } } });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toEqual([
      { path: 'attempt', message: 'unknown field', code: 'unrecognized_keys' },
    ]);
  });
});

describe('DELETE /api/tasks/:id', () => {
  it('removes the task, once', async () => {
    const { id } = await create();
    const gone = await board.call('DELETE', `/api/tasks/${id}`);
    expect([gone.status, gone.body]).toEqual([204, '']);
    expect((await board.call('GET', `/api/tasks/${id}`)).status).toBe(404);
    expect((await board.call('DELETE', `/api/tasks/${id}`)).status).toBe(404);
  });

  it('minds the revision', async () => {
    const { id } = await create();
    const refused = await board.call('DELETE', `/api/tasks/${id}`, { headers: { 'If-Match': '"9"' } });
    expect(refused.status).toBe(409);
    expect((await board.call('DELETE', `/api/tasks/${id}`, { headers: { 'If-Match': '"1"' } })).status).toBe(204);
  });
});
