import { workProductLimits } from '../../../contracts/tasks/work-product';
import { anAttempt } from '../../support/factories/records';
import { agentKey, type ApiUnderTest, readKey, type Reply, startTestApi } from '../api-under-test';

const path = '/api/work-products';

describe('work products', () => {
  let board: ApiUnderTest;
  let taskId: string;
  beforeAll(async () => {
    board = await startTestApi();
  });
  beforeEach(async () => {
    taskId = (await board.createTask()).id;
  });
  afterAll(() => board.close());

  const call = (method: string, rest: string, body?: unknown, key?: string) =>
    board.call(method, `${path}${rest}`, { body, ...(key && { key }) });
  const ofTask = (method: string, rest = '', body?: unknown) =>
    board.call(method, `/api/tasks/${taskId}/work-products${rest}`, { body });
  const create = async (fields: object = {}): Promise<Reply['body']> => {
    const made = await ofTask('POST', '', { title: 'Findings', content: '# First', ...fields });
    expect([made.status, made.body.details]).toEqual([201, undefined]);
    return made.body;
  };
  const versionsOf = async (id: string) => (await call('GET', `/${id}/versions`)).body as { version: number }[];
  const issuesOf = ({ status, body }: Reply): string[] => {
    expect(status).toBe(400);
    return body.details.issues.map(({ path: field }: { path: string }) => field) as string[];
  };

  it('are created at either path, read with their content, listed without it, and deleted', async () => {
    const made = await create({ summary: 'What was found', kind: 'report' });
    expect(made).toMatchObject({
      ...{ taskId, title: 'Findings', kind: 'report', format: 'markdown', summary: 'What was found' },
      ...{ content: '# First', version: 1, revision: 1, size: 7 },
    });
    expect(made).not.toHaveProperty('attemptId');
    const { body: second } = await call('POST', '', { taskId, title: 'Second', content: 'x', format: 'text' });
    const read = await call('GET', `/${made.id}`);
    expect(read.body).toEqual(made);
    expect(read.headers.get('x-resource-revision')).toBe('1');
    const { content: _one, ...first } = made;
    const { content: _two, ...other } = second;
    const byId = (list: { id: string }[]) => [...list].sort((a, b) => a.id.localeCompare(b.id));
    expect(byId((await ofTask('GET')).body)).toEqual(byId([first, other]));
    expect((await call('GET', `?taskId=${taskId}&kind=report`)).body).toEqual([first]);
    expect((await call('DELETE', `/${made.id}`)).status).toBe(204);
    for (const [method, rest, body] of [
      ['GET', ''],
      ['GET', '/versions'],
      ['GET', '/versions/1'],
      ['GET', '/export'],
      ['DELETE', ''],
      ['PATCH', '', { title: 'x' }],
      ['POST', '/restore', { version: 1 }],
    ] as const) {
      expect((await call(method, `/${made.id}${rest}`, body)).status).toBe(404);
    }
    expect((await ofTask('GET')).body).toEqual([other]);
  });

  it('belong to a task that is there, and to an attempt of it', async () => {
    const [attemptId, foreign] = ['attempt_product000', 'attempt_foreign000'];
    await board.api.context.attempts.create(anAttempt(attemptId, { taskId }));
    await board.api.context.attempts.create(anAttempt(foreign, { taskId: 'task_20260101_other' }));
    const made = await create({ attemptId });
    await create();
    for (const list of [await ofTask('GET', `?attemptId=${attemptId}`), await call('GET', `?attemptId=${attemptId}`)]) {
      expect(list.body).toMatchObject([{ id: made.id, attemptId }]);
    }
    expect((await call('GET', `?attemptId=${attemptId}&kind=plan`)).body).toEqual([]);
    for (const attempt of [foreign, 'attempt_absent0000']) {
      expect((await ofTask('POST', '', { title: 'x', content: 'x', attemptId: attempt })).status).toBe(404);
    }
    expect((await call('POST', '', { taskId: 'task_20260101_absent', title: 'x', content: 'x' })).status).toBe(404);
    expect((await board.call('GET', '/api/tasks/task_20260101_absent/work-products')).status).toBe(404);
  });

  it('outlive the deletion of their task', async () => {
    const made = await create();
    expect((await board.call('DELETE', `/api/tasks/${taskId}`)).status).toBeLessThan(300);
    expect((await call('GET', `?taskId=${taskId}`)).body).toMatchObject([{ id: made.id }]);
    expect((await call('GET', `/${made.id}`)).body).toEqual(made);
  });

  it('have an immutable version for each content and format, and none for other changes', async () => {
    const { id } = await create();
    const patch = (body: object) => call('PATCH', `/${id}`, body);
    expect((await patch({ title: 'Renamed', summary: 'S' })).body).toMatchObject({ version: 1, revision: 2 });
    expect((await patch({ summary: null })).body).not.toHaveProperty('summary');
    expect((await patch({ content: '{"a":1}', changelog: 'Numbers' })).body).toMatchObject({
      ...{ version: 2, content: '{"a":1}', title: 'Renamed', revision: 4 },
    });
    expect((await patch({ format: 'json' })).body).toMatchObject({ version: 3, format: 'json', content: '{"a":1}' });
    expect((await patch({ content: '{"a":1}' })).body).toMatchObject({ version: 3, revision: 5 });
    expect(await versionsOf(id)).toMatchObject([
      { version: 3, format: 'json' },
      { version: 2, format: 'markdown', changelog: 'Numbers' },
      { version: 1, format: 'markdown', size: 7 },
    ]);
    expect((await call('GET', `/${id}/versions/1`)).body).toMatchObject({ version: 1, content: '# First' });
    expect((await call('GET', `/${id}/versions/2`)).body).toMatchObject({ version: 2, content: '{"a":1}' });
    expect((await call('GET', `/${id}/versions/4`)).status).toBe(404);
  });

  it('have a version again as their newest one when it is restored', async () => {
    const { id } = await create();
    await call('PATCH', `/${id}`, { content: 'a,b', format: 'csv' });
    const back = await call('POST', `/${id}/restore`, { version: 1, changelog: 'Back', expectedRevision: 2 });
    expect(back).toMatchObject({
      status: 200,
      body: { version: 3, revision: 3, content: '# First', format: 'markdown' },
    });
    expect(back.headers.get('x-resource-revision')).toBe('3');
    expect(await versionsOf(id)).toMatchObject([
      { version: 3, restoredFrom: 1, changelog: 'Back' },
      { version: 2 },
      { version: 1 },
    ]);
    expect((await call('POST', `/${id}/restore`, { version: 3 })).status).toBe(409);
    expect((await call('POST', `/${id}/restore`, { version: 9 })).status).toBe(404);
    expect((await call('POST', `/${id}/restore`, { version: 2, expectedRevision: 1 })).status).toBe(409);
    expect(await versionsOf(id)).toHaveLength(3);
  });

  it('refuse what could not be served, by its field', async () => {
    const { id } = await create();
    const bad = (fields: object) => ofTask('POST', '', { title: 'x', content: 'x', ...fields });
    expect(issuesOf(await bad({ content: '' }))).toEqual(['content']);
    expect(issuesOf(await bad({ content: 'x'.repeat(workProductLimits.content + 1) }))).toEqual(['content']);
    expect(issuesOf(await bad({ content: 'half \ud800' }))).toEqual(['content']);
    expect(issuesOf(await bad({ content: '{', format: 'json' }))).toEqual(['content']);
    expect(issuesOf(await bad({ format: 'exe' }))).toEqual(['format']);
    expect(issuesOf(await bad({ kind: 'poem' }))).toEqual(['kind']);
    expect(issuesOf(await bad({ title: '<b></b>' }))).toEqual(['title']);
    expect(issuesOf(await bad({ version: 2 }))).toEqual(['version']);
    expect(issuesOf(await call('PATCH', `/${id}`, { changelog: 'Nothing' }))).toEqual(['changelog']);
    expect(issuesOf(await call('PATCH', `/${id}`, { format: 'json' }))).toEqual(['content']);
    expect(issuesOf(await call('PATCH', `/${id}`, { taskId }))).toEqual(['taskId']);
    expect(issuesOf(await call('GET', `/${id}/export?version=0`))).toEqual(['version']);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ version: 1, revision: 1 });
  });

  it.each([
    ['図', 'markdown', `attachment; filename="?.md"; filename*=UTF-8''%E5%9B%B3.md`, 'text/markdown'],
    ['plan.md', 'markdown', 'attachment; filename="plan.md"', 'text/markdown'],
    ['../../etc/passwd', 'text', 'attachment; filename="_.._etc_passwd.txt"', 'text/plain'],
    ['a"b\\c', 'html', 'attachment; filename="a_b_c.html"', 'text/html'],
  ])('are exported with a safe name: %s', async (title, format, disposition, type) => {
    const { id } = await create({ title, format, content: 'Grüße' });
    const response = await fetch(`${board.url}${path}/${id}/export`, { headers: { 'X-API-Key': readKey } });
    const exported = Object.fromEntries(response.headers);
    expect(exported).toMatchObject({
      'content-type': `${type}; charset=utf-8`,
      'content-length': '7',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    expect(exported['content-disposition']).toBe(disposition);
    expect(await response.text()).toBe('Grüße');
    const headers = { 'X-API-Key': readKey, 'If-None-Match': exported['etag'] ?? '' };
    expect((await fetch(`${board.url}${path}/${id}/export`, { headers })).status).toBe(304);
  });

  it('export a former version', async () => {
    const { id } = await create();
    await call('PATCH', `/${id}`, { content: 'Second' });
    expect((await call('GET', `/${id}/export?version=1`)).body).toBe('# First');
    expect((await call('GET', `/${id}/export`)).body).toBe('Second');
  });

  it('keep the version of each of ten concurrent writers', async () => {
    const { id } = await create();
    const writers = Array.from({ length: 10 }, (_, n) => call('PATCH', `/${id}`, { content: `Writer ${n}` }));
    expect((await Promise.all(writers)).map(({ status }) => status)).toEqual(writers.map(() => 200));
    const versions = await versionsOf(id);
    expect(versions.map(({ version }) => version)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    const contents = await Promise.all(
      versions.map(async ({ version }) => (await call('GET', `/${id}/versions/${version}`)).body.content as string),
    );
    expect(new Set(contents).size).toBe(11);
  });

  it('let one of ten writers through that have seen the same revision, whatever they change', async () => {
    const { id, revision: expectedRevision } = await create();
    const writers = Array.from({ length: 10 }, (_, n) =>
      call('PATCH', `/${id}`, { ...(n % 2 ? { title: `Title ${n}` } : { content: `Writer ${n}` }), expectedRevision }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ revision: 2 });
  });

  it('are not deleted at a stale revision', async () => {
    const { id } = await create();
    await call('PATCH', `/${id}`, { title: 'Newer' });
    const headers = { 'X-Resource-Revision': '1' };
    expect((await board.call('DELETE', `${path}/${id}`, { headers })).status).toBe(409);
    expect((await call('GET', `/${id}`)).status).toBe(200);
  });

  it('have no more versions than their limit, all of which stay', async () => {
    const { id } = await create();
    for (let n = 2; n <= workProductLimits.versions; n += 1) {
      expect((await call('PATCH', `/${id}`, { content: `Version ${n}` })).body).toMatchObject({ version: n });
    }
    expect(await call('PATCH', `/${id}`, { content: 'One more' })).toMatchObject({
      status: 409,
      body: { code: 'WORK_PRODUCT_VERSIONS_EXHAUSTED' },
    });
    expect((await call('PATCH', `/${id}`, { title: 'Still renamed' })).status).toBe(200);
    expect((await call('GET', `/${id}/versions/1`)).body).toMatchObject({ content: '# First' });
  });

  it('are no more of a task than their limit, however many are created at once', async () => {
    const { ofTask: most } = workProductLimits;
    const creations = await Promise.all(
      Array.from({ length: most + 20 }, (_, n) => ofTask('POST', '', { title: `Part ${n}`, content: 'x' })),
    );
    const isCreated = ({ status }: Reply): boolean => status === 201;
    expect(creations.filter((reply) => !isCreated(reply)).map(({ status }) => status)).not.toContain(500);
    const count = await board.api.context.workProducts.count(taskId);
    expect([count, count <= most]).toEqual([creations.filter(isCreated).length, true]);
    for (let n = count; n < most; n += 1) {
      await create();
    }
    expect(await ofTask('POST', '', { title: 'One more', content: 'x' })).toMatchObject({ status: 409 });
  });

  it('are written by agents and read by all keys', async () => {
    const { id } = await create();
    expect((await call('PATCH', `/${id}`, { title: 'By an agent' }, agentKey)).status).toBe(200);
    expect((await call('GET', `/${id}`, undefined, readKey)).status).toBe(200);
    expect((await call('PATCH', `/${id}`, { title: 'No' }, readKey)).status).toBe(403);
    const { body } = await board.call('GET', `/api/audit?resource=${id}`);
    expect(body.entries.map(({ action }: { action: string }) => action).sort()).toEqual([
      'work-product.create',
      'work-product.update',
    ]);
  });
});
