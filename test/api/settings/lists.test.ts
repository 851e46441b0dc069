import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

let labels = 0;
const aLabel = () => `Label ${(labels += 1)}`;
const lists = ['projects', 'sprints', 'task-types'] as const;
const call = (method: string, list: string, rest = '', options: CallOptions = {}) =>
  board.call(method, `/api/${list}${rest}`, options);
const create = async (list: string, fields: object = {}) =>
  (await call('POST', list, '', { body: { label: aLabel(), ...fields } })).body;
const aTask = (fields: object) => board.call('POST', '/api/tasks', { body: { title: 'A task', ...fields } });

it('has the task types that there are from the beginning', async () => {
  const { body } = await call('GET', 'task-types');
  expect(body.slice(0, 4)).toEqual(
    ['code', 'research', 'content', 'automation'].map((id, order) =>
      expect.objectContaining({ id, order, isDefault: true, revision: 1 }),
    ),
  );
});

describe.each(lists)('%s', (list) => {
  it('are added, read, changed and deleted', async () => {
    const label = `${aLabel()} <b>bold</b>`;
    const created = await call('POST', list, '', { body: { label } });
    expect(created.status).toBe(201);
    const { id, order } = created.body;
    expect(created.body).toMatchObject({ label: label.replace(/<.?b>/g, ''), revision: 1 });
    expect(id).toMatch(/^label-\d+-bold$/);
    expect(created.headers.get('ETag')).toBe(`"${list}:${id}:1"`);
    expect((await call('GET', list, `/${id}`)).body).toEqual(created.body);

    const changed = await call('PATCH', list, `/${id}`, { body: { label: `Changed ${id}` } });
    expect(changed.body).toMatchObject({ id, order, label: `Changed ${id}`, revision: 2 });
    expect(await call('DELETE', list, `/${id}`)).toMatchObject({ status: 204 });
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? {} : undefined;
      expect(await call(method, list, `/${id}`, { body })).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    }
    expect(await call('GET', list, `/${id}/can-delete`)).toMatchObject({ status: 404 });
  });

  it('are only listed when they are not hidden, or asked for', async () => {
    const { id } = await create(list);
    await call('PATCH', list, `/${id}`, { body: { isHidden: true } });
    const ids = async (query: string) => (await call('GET', list, query)).body.map((item: { id: string }) => item.id);
    expect(await ids('')).not.toContain(id);
    expect(await ids('?includeHidden=false')).not.toContain(id);
    expect(await ids('?includeHidden=true')).toContain(id);
  });

  it('have no label twice, nor one that is the id of another', async () => {
    const first = await create(list);
    const second = await create(list);
    for (const label of [first.label, first.label.toUpperCase(), first.id]) {
      for (const attempt of [
        call('POST', list, '', { body: { label } }),
        call('PATCH', list, `/${second.id}`, { body: { label } }),
      ]) {
        expect(await attempt).toMatchObject({ status: 409, body: { details: { current: { id: first.id } } } });
      }
    }
    const same = await call('PATCH', list, `/${first.id}`, { body: { label: first.label.toUpperCase() } });
    expect(same.status).toBe(200);
  });

  it('get an id also for a label without Latin letters, and one of their own for labels that read alike', async () => {
    const ids = await Promise.all(
      ['図', '表', 'A + B', 'A & B'].map(async (label) => (await create(list, { label })).id),
    );
    expect(new Set(ids).size).toBe(4);
    expect(ids[2]).toMatch(/^a-b/);
  });

  it('lets exactly one of several writers with the same revision win', async () => {
    const { id } = await create(list);
    const headers = { 'If-Match': `"${list}:${id}:1"` };
    const writers = Array.from({ length: 5 }, () =>
      call('PATCH', list, `/${id}`, { body: { isHidden: true }, headers }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(4);
    expect(await call('DELETE', list, `/${id}`, { headers })).toMatchObject({
      status: 409,
      body: { details: { expectedRevision: 1, currentRevision: 2, current: { id } } },
    });
  });

  it('are put in an order; others follow', async () => {
    const [a, b, c] = [await create(list), await create(list), await create(list)];
    const { status, body } = await call('POST', list, '/reorder', { body: { orderedIds: [c.id, a.id] } });
    expect(status).toBe(200);
    const ids = body.map(({ id }: { id: string }) => id);
    expect(ids.slice(0, 2)).toEqual([c.id, a.id]);
    expect(ids.at(-1)).toBe(b.id);
    expect(body.map(({ order }: { order: number }) => order)).toEqual(ids.map((_id: string, index: number) => index));
    expect((await call('GET', list, '?includeHidden=true')).body).toEqual(body);
  });

  it.each([
    ['one that is none', (id: string) => [id, 'nothing'], 'orderedIds.1'],
    ['one twice', (id: string) => [id, id], 'orderedIds.1'],
    ['none', () => [], 'orderedIds'],
  ])('are not put in an order with %s', async (_case, orderedIds, path) => {
    const { id } = await create(list);
    const refused = await call('POST', list, '/reorder', { body: { orderedIds: orderedIds(id) } });
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
  });

  it.each([
    ['no label', {}, 'label'],
    ['an empty label', { label: '' }, 'label'],
    ['a label of nothing but tags', { label: '<br>' }, 'label'],
    ['a label too long', { label: 'x'.repeat(201) }, 'label'],
    ['an order', { label: 'x', order: 1 }, 'order'],
    ['a field that is none', { label: 'x', mood: 'good' }, 'mood'],
  ])('are refused with %s by the path of the field', async (_case, body, path) => {
    const refused = await call('POST', list, '', { body });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('lose none that are added at once', async () => {
    const added = await Promise.all(Array.from({ length: 10 }, () => create(list)));
    const ids = (await call('GET', list)).body.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining(added.map(({ id }) => id)));
  });

  it('need the permission for settings', async () => {
    const body = { label: aLabel() };
    expect(await call('POST', list, '', { body, key: readKey })).toMatchObject({ status: 403 });
    expect(await call('POST', list, '', { body, key: agentKey })).toMatchObject({ status: 403 });
    expect(await call('GET', list, '', { key: readKey })).toMatchObject({ status: 200 });
    expect(await call('GET', list, '', { key: agentKey })).toMatchObject({ status: 403 });
  });
});

describe('what is particular to a list', () => {
  it.each([
    ['projects', { description: 'About it', color: '#7c3aed' }],
    ['sprints', { description: 'Two weeks' }],
    ['task-types', { icon: 'bug', color: 'bg-violet-500/20' }],
  ])('%s have it, and may be without', async (list, fields) => {
    const created = await create(list, fields);
    expect(created).toMatchObject(fields);
    const cleared = Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
    const { body } = await call('PATCH', list, `/${created.id}`, { body: cleared });
    for (const name of Object.keys(fields)) {
      expect(body).not.toHaveProperty(name);
    }
    expect((await call('GET', list, `/${created.id}`)).body).toEqual(body);
  });

  it.each([
    ['projects', { icon: 'bug' }, 'icon'],
    ['sprints', { color: 'red' }, 'color'],
    ['task-types', { description: 'x' }, 'description'],
    ['projects', { color: 'url("javascript:1")' }, 'color'],
  ])('%s have nothing else: %j', async (list, fields, path) => {
    const refused = await call('POST', list, '', { body: { label: aLabel(), ...fields } });
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
  });
});

describe('an item that tasks name', () => {
  it.each([
    ['projects', 'project'],
    ['sprints', 'sprint'],
  ])('of %s is counted by id and label, in the board and in the backlog', async (list, field) => {
    const { id, label } = await create(list);
    await aTask({ [field]: id });
    const { body: task } = await aTask({ [field]: label });
    await board.api.context.board.create({ title: 'Later', [field]: label }, { actor: 'test', location: 'backlog' });
    const use = { allowed: false, referenceCount: 3, isDefault: false };
    expect((await call('GET', list, `/${id}/can-delete`)).body).toEqual(use);
    expect(await call('DELETE', list, `/${id}`)).toMatchObject({ status: 400, body: { details: use } });
    await board.call('DELETE', `/api/tasks/${task.id}`);
    expect((await call('GET', list, `/${id}/can-delete`)).body.referenceCount).toBe(2);
    expect(await call('DELETE', list, `/${id}?force=true`)).toMatchObject({ status: 204 });
  });

  it('of task types is a type, and a default one is deleted with force only', async () => {
    const { id } = await create('task-types');
    await aTask({ type: id });
    expect((await call('GET', 'task-types', `/${id}/can-delete`)).body).toMatchObject({ referenceCount: 1 });
    const use = { allowed: true, referenceCount: 0, isDefault: true };
    expect((await call('GET', 'task-types', '/content/can-delete')).body).toEqual(use);
    expect(await call('DELETE', 'task-types', '/content')).toMatchObject({ status: 400, body: { details: use } });
    expect(await call('DELETE', 'task-types', '/content?force=true')).toMatchObject({ status: 204 });
  });
});
