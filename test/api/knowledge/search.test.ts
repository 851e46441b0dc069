import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
let docs: string;

const search = (body: object, key?: string) =>
  board.call('POST', '/api/search', { body, ...(key === undefined ? {} : { key }) });

async function idsOf(query: string, more: object = {}): Promise<string[]> {
  const { status, body } = await search({ query, ...more });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.results.map(({ id }: { id: string }) => id);
}

const refresh = () => board.call('POST', '/api/search/index/refresh', { body: {} });

beforeAll(async () => {
  board = await startTestApi();
  docs = join(board.dataDir, 'docs');
  await mkdir(join(docs, 'guides'), { recursive: true });
});
afterAll(() => board.close());

describe('search', () => {
  it('finds a task as soon as it is created, changed, archived and deleted', async () => {
    const { id } = await board.createTask({ title: 'Retry the webhooks', description: 'Back off exponentially' });
    const { body } = await search({ query: 'exponentially WEBHOOKS', backend: 'keyword' });
    expect(body).toMatchObject({ query: 'exponentially WEBHOOKS', backend: 'keyword', results: [{ id }] });
    expect(body.elapsedMs).toBeGreaterThanOrEqual(0);
    expect(Object.keys(body).sort()).toEqual(['backend', 'degraded', 'elapsedMs', 'query', 'results']);
    expect(body.results[0]).toEqual({
      id,
      title: 'Retry the webhooks',
      path: expect.stringMatching(/^active\/.*\.md$/),
      collection: 'tasks-active',
      snippet: expect.stringContaining('Back off exponentially'),
      score: expect.any(Number),
    });

    await board.call('PATCH', `/api/tasks/${id}`, { body: { description: 'Linear pauses', status: 'done' } });
    expect(await idsOf('exponentially')).toEqual([]);
    expect(await idsOf('linear')).toEqual([id]);

    expect((await board.call('POST', `/api/tasks/${id}/archive`, { body: {} })).status).toBe(200);
    expect(await idsOf('linear', { collections: ['tasks-active'] })).toEqual([]);
    expect(await idsOf('linear', { collections: ['tasks-archive'] })).toEqual([id]);

    const { id: other } = await board.createTask({ title: 'Vanishing' });
    expect(await idsOf('vanishing')).toEqual([other]);
    expect((await board.call('DELETE', `/api/tasks/${other}`)).status).toBe(204);
    expect(await idsOf('vanishing')).toEqual([]);
  });

  it('follows files that are edited, moved and removed by hand', async () => {
    const { id } = await board.createTask({ title: 'Edited by hand' });
    const active = join(board.dataDir, 'tasks', 'active');
    const name = (await readdir(active)).find((file) => file.includes(id))!;
    const path = join(active, name);
    await writeFile(path, (await readFile(path, 'utf8')).replace('Edited by hand', 'Rewritten manually'));
    await eventually(async () => expect(await idsOf('rewritten')).toEqual([id]));
    expect(await idsOf('edited hand', { collections: ['tasks-active'] })).toEqual([]);
    await rename(path, join(board.dataDir, 'tasks', 'backlog', name));
    await eventually(async () => expect(await idsOf('rewritten', { collections: ['tasks-backlog'] })).toEqual([id]));
    await rm(join(board.dataDir, 'tasks', 'backlog', name));
    await eventually(async () => expect(await idsOf('rewritten')).toEqual([]));
  });

  it('searches what people write about a task, and its id', async () => {
    const { id } = await board.createTask({ title: 'Parts', plan: 'walrus', subtasks: [{ title: 'ocelot' }] as never });
    await board.call('POST', `/api/tasks/${id}/comments`, { body: { text: 'about a marmot' } });
    for (const query of ['walrus', 'ocelot', 'marmot', id]) {
      expect(await idsOf(query)).toEqual([id]);
    }
  });

  it('finds words that begin so when none is the same, and some words when none has all', async () => {
    const { id } = await board.createTask({ title: 'Kubernetes rollout' });
    expect(await idsOf('kube')).toEqual([id]);
    expect(await idsOf('kubernetes quetzalcoatl')).toEqual([id]);
    expect(await idsOf('quetzalcoatl')).toEqual([]);
  });

  it('finds documents, and follows them', async () => {
    await writeFile(join(docs, 'guides', 'setup.md'), '# Getting started\n\nInstall the gizmo first.\n');
    await writeFile(join(docs, 'picture.png'), 'gizmo');
    await writeFile(join(docs, '.secret.md'), 'gizmo');
    await eventually(async () => expect(await idsOf('gizmo')).toEqual(['guides/setup.md']));
    const { body } = await search({ query: 'gizmo', collections: ['docs'] });
    expect(body.results).toMatchObject([
      {
        title: 'Getting started',
        path: 'guides/setup.md',
        collection: 'docs',
        snippet: expect.stringContaining('gizmo'),
      },
    ]);
    await writeFile(join(docs, 'guides', 'setup.md'), '# Getting started\n\nNo more.\n');
    // What the index has of it is behind; a result is what the file has now.
    expect(await idsOf('gizmo')).toEqual([]);
    expect((await refresh()).body).toMatchObject({ updated: true });
    expect(await idsOf('getting more')).toEqual(['guides/setup.md']);
    await rm(join(docs, 'guides', 'setup.md'));
    expect(await idsOf('getting started')).toEqual([]);
  });

  it('follows no link out of the documents', async () => {
    const outside = join(board.dataDir, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'plan.md'), 'chimera');
    await symlink(join(outside, 'plan.md'), join(docs, 'plan.md'));
    await symlink(outside, join(docs, 'linked'));
    await mkdir(join(docs, 'swapped'));
    await writeFile(join(docs, 'swapped', 'plan.md'), 'chimera');
    await refresh();
    expect(await idsOf('chimera')).toEqual(['swapped/plan.md']);
    await rm(join(docs, 'swapped'), { recursive: true });
    await symlink(outside, join(docs, 'swapped'));
    expect(await idsOf('chimera')).toEqual([]);
    await refresh();
    expect(await idsOf('chimera')).toEqual([]);
  });

  it('shows snippets that are short, plain, and without credentials or names in paths', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const description = `${'lorem ipsum '.repeat(2_000)} basilisk ${token} in /home/ada/notes \u202e<b>x</b>\n${'dolor '.repeat(2_000)}`;
    const { id } = await board.createTask({ title: 'Long', description });
    const { body } = await search({ query: 'basilisk' });
    expect(body.results).toMatchObject([{ id }]);
    const [{ snippet }] = body.results;
    expect(snippet.length).toBeLessThanOrEqual(300);
    expect(snippet).toMatch(/^….*basilisk \[REDACTED\] in \/home\/\[REDACTED\]\/notes .*…$/);
    expect(snippet).not.toMatch(/\u202e/);
    expect(await idsOf(token)).toEqual([]);
  });

  it('shows an agent no documents, which it may not read', async () => {
    await writeFile(join(docs, 'operators.md'), 'sphinx');
    const { id } = await board.createTask({ title: 'Sphinx' });
    await refresh();
    expect((await idsOf('sphinx')).sort()).toEqual(['operators.md', id].sort());
    const own = await search({ query: 'sphinx' }, agentKey);
    expect(own.body.results).toMatchObject([{ id }]);
    const refused = await search({ query: 'sphinx', collections: ['tasks-active', 'docs'] }, agentKey);
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect((await search({ query: 'sphinx' }, readKey)).status).toBe(403);
    const refreshed = await board.call('POST', '/api/search/index/refresh', { key: agentKey, body: {} });
    expect(refreshed.status).toBe(403);
  });

  it.each([
    ['"', 'query'],
    ['* : - ^', 'query'],
    [Array.from({ length: 40 }, (_, n) => `word${n}`).join(' '), 'query'],
    ['x'.repeat(501), 'query'],
  ])('refuses the query %j', async (query, path) => {
    const { status, body } = await search({ query });
    expect(status).toBe(400);
    expect(body.details.issues[0].path).toBe(path);
  });

  it.each([
    [{}, 'query'],
    [{ query: 'a', limit: 0 }, 'limit'],
    [{ query: 'a', limit: 101 }, 'limit'],
    [{ query: 'a', backend: 'grep' }, 'backend'],
    [{ query: 'a', collections: [] }, 'collections'],
    [{ query: 'a', collections: ['settings'] }, 'collections.0'],
  ])('refuses %j', async (body, path) => {
    const answer = await search(body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(path);
  });

  it.each([
    'title:phoenix',
    'NEAR(phoenix tears, 5)',
    '"phoenix" OR *',
    "phoenix'; DROP TABLE tasks --",
    '^phoenix* NOT x',
  ])('takes %j as words', async (query) => {
    const { id } = await board.createTask({ title: `Phoenix ${query.length}` });
    expect(await idsOf(query)).toContain(id);
    await board.call('DELETE', `/api/tasks/${id}`);
  });

  it('refuses semantic search, and vectors, while no model is configured', async () => {
    expect(await search({ query: 'a', backend: 'semantic' })).toMatchObject({
      status: 409,
      body: { code: 'SEARCH_MODEL_MISSING' },
    });
    const embed = await board.call('POST', '/api/search/index/refresh', { body: { embed: true } });
    expect(embed).toMatchObject({ status: 409, body: { code: 'SEARCH_MODEL_MISSING' } });
  });

  it('answers a refresh with what it did, and writes it to the audit log', async () => {
    const { status, body } = await refresh();
    expect({ status, body }).toEqual({
      status: 200,
      body: { backend: 'keyword', updated: true, embedded: false, elapsedMs: expect.any(Number), commands: ['update'] },
    });
    const audit = await board.call('GET', '/api/audit?action=search.refresh&limit=1');
    expect(JSON.stringify(audit.body)).toContain('search.refresh');
    expect((await search({ query: 'anything' })).body.degraded).toBe(false);
  });

  it('searches one workspace', async () => {
    const made = await board.call('POST', '/api/identity/workspaces', { body: { name: 'Other' } });
    expect(made.status).toBe(201);
    const headers = { 'X-Board-Workspace': made.body.id ?? made.body.workspace?.id };
    const { id } = await board.createTask({ title: 'Griffin here' });
    const there = await board.call('POST', '/api/tasks', { headers, body: { title: 'Griffin there' } });
    expect(there.status).toBe(201);
    const answer = await board.call('POST', '/api/search', { headers, body: { query: 'griffin' } });
    expect(answer.body.results).toMatchObject([{ id: there.body.id }]);
    expect(await idsOf('griffin')).toEqual([id]);
  });
});
