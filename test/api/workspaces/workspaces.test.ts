import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { TestWatcher } from '../../support/watcher';
import { adminKey, agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';
import { aWorkspace } from '../identity/people';
import { alpha, beta, type CallIn, startWorkspaces } from './boards';

let board: ApiUnderTest;
let callIn: CallIn;
beforeAll(async () => {
  ({ board, callIn } = await startWorkspaces());
});
afterAll(() => board.close());

const created = async (workspaceId: string, title: string, headers = {}): Promise<string> =>
  (await callIn(workspaceId, 'POST', '/api/tasks', { body: { title }, headers })).body.id as string;

describe('the header X-Board-Workspace', () => {
  it('chooses the workspace of an administrator of the installation', async () => {
    const id = await created(alpha, 'Of alpha');
    expect(await callIn(alpha, 'GET', `/api/tasks/${id}`)).toMatchObject({ status: 200, body: { title: 'Of alpha' } });
    expect((await callIn(beta, 'GET', `/api/tasks/${id}`)).status).toBe(404);
    expect((await board.call('GET', `/api/tasks/${id}`)).status).toBe(404);
    expect((await callIn('local', 'GET', '/api/auth/context')).body.workspaceId).toBe('local');
    expect((await callIn(beta, 'GET', '/api/auth/context')).body.workspaceId).toBe(beta);
  });

  it.each([agentKey, readKey])('is refused from other callers with 403', async (key) => {
    const refused = await callIn(alpha, 'GET', '/api/tasks', { key });
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    // Their own one they may name.
    expect((await callIn('local', 'GET', '/api/tasks', { key })).status).toBe(200);
  });

  it.each(['ws-cccccccccccc', 'nowhere', '../local', 'ws-aaaaaaaaaaaa-tasks', '__proto__'])(
    'is 404 for %s, which is no workspace',
    async (id) => {
      expect(await callIn(id, 'GET', '/api/tasks')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    },
  );
});

describe('a workspace', () => {
  it('has task files and audit entries of its own, under the same ids as another', async () => {
    const [one, other] = [await created(alpha, 'One'), await created(beta, 'Other')];
    const folder = (id: string) => join(board.dataDir, 'workspaces', id, 'tasks', 'active');
    expect((await readdir(folder(alpha))).join()).toContain(one);
    expect((await readdir(folder(beta))).join()).toContain(other);
    await callIn(alpha, 'DELETE', `/api/tasks/${one}`);
    const actions = async (id: string) =>
      ((await callIn(id, 'GET', '/api/audit')).body.entries as { resource?: string }[]).map(({ resource }) => resource);
    expect(await actions(alpha)).toContain(one);
    expect([await actions(beta), await actions('local')].flat()).not.toContain(one);
  });

  it('keeps a task of the same id apart from that of another', async () => {
    const id = await created(alpha, 'In both');
    const folder = (workspaceId: string) => join(board.dataDir, 'workspaces', workspaceId, 'tasks', 'active');
    const [file = ''] = (await readdir(folder(alpha))).filter((name) => name.includes(id));
    await callIn(beta, 'GET', '/api/tasks');
    await copyFile(join(folder(alpha), file), join(folder(beta), file));
    await eventually(async () => expect((await callIn(beta, 'GET', `/api/tasks/${id}`)).status).toBe(200));
    const patched = await callIn(beta, 'PATCH', `/api/tasks/${id}`, { body: { title: 'Changed in beta' } });
    expect(patched.status).toBe(200);
    await callIn(beta, 'POST', `/api/tasks/${id}/comments`, { body: { text: 'Only in beta' } });
    const inAlpha = await callIn(alpha, 'GET', `/api/tasks/${id}`);
    expect([inAlpha.body.title, inAlpha.body.comments ?? []]).toEqual(['In both', []]);
    await callIn(beta, 'DELETE', `/api/tasks/${id}`);
    expect((await callIn(alpha, 'GET', `/api/tasks/${id}`)).status).toBe(200);
  });

  it('has idempotency keys of its own', async () => {
    const headers = { 'Idempotency-Key': 'the-same-key' };
    const ids = [await created(alpha, 'Once', headers), await created(beta, 'Once', headers)];
    expect(new Set([...ids, await created(alpha, 'Once', headers)])).toEqual(new Set(ids));
    expect(new Set(ids).size).toBe(2);
  });

  it('does not continue a list of another: its cursor is 400', async () => {
    for (const workspace of [alpha, beta, 'local']) {
      await Promise.all(['a', 'b', 'c'].map((title) => created(workspace, title)));
    }
    const cursorOf = async (workspace: string) =>
      (await callIn(workspace, 'GET', '/api/tasks?limit=1')).headers.get('X-Next-Cursor') ?? '';
    const next = (workspace: string, cursor: string) => callIn(workspace, 'GET', `/api/tasks?limit=1&cursor=${cursor}`);
    const [ofAlpha, ofLocal] = [await cursorOf(alpha), await cursorOf('local')];
    expect((await next(alpha, ofAlpha)).status).toBe(200);
    for (const [workspace, cursor] of [
      [beta, ofAlpha],
      ['local', ofAlpha],
      [beta, ofLocal],
    ] as const) {
      const refused = await next(workspace, cursor);
      expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    }
  });

  it('takes no entity tag of another, and is not taken for unchanged by it', async () => {
    const policy = (id: string) => ({
      ...{ id, type: 'block-action-type', name: 'Same', enabled: false, responseAction: 'block' },
      config: { actionTypes: ['merge'] },
    });
    const tags = await Promise.all(
      [alpha, beta, 'local'].map(async (workspace) => {
        await callIn(workspace, 'POST', '/api/policies', { body: policy('same') });
        return (await callIn(workspace, 'GET', '/api/policies/same')).headers.get('ETag') ?? '';
      }),
    );
    expect(tags).toEqual([`"${alpha}/policies:same:1"`, `"${beta}/policies:same:1"`, '"policies:same:1"']);
    const change = (workspace: string, tag: string) =>
      callIn(workspace, 'DELETE', '/api/policies/same', { headers: { 'If-Match': tag } });
    const [ofAlpha = '', ofBeta = '', ofLocal = ''] = tags;
    for (const [workspace, tag] of [
      [beta, ofAlpha],
      [beta, ofLocal],
      ['local', ofAlpha],
    ] as const) {
      expect(await change(workspace, tag)).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    }
    expect((await change(beta, ofBeta)).status).toBe(204);
    expect((await change('local', ofLocal)).status).toBe(204);
    const list = (workspace: string, tag: string) =>
      callIn(workspace, 'GET', '/api/tasks', { headers: { 'If-None-Match': tag } });
    const listed = (await list(alpha, '"none"')).headers.get('ETag') ?? '';
    expect([(await list(alpha, listed)).status, (await list(beta, listed)).status]).toEqual([304, 200]);
  });

  it('is watched apart: nothing of another reaches its watchers', async () => {
    const watch = (id: string) =>
      TestWatcher.open(board.url, { headers: { 'X-API-Key': adminKey, 'X-Board-Workspace': id } });
    const [ofAlpha, ofBeta, ofLocal] = await Promise.all([watch(alpha), watch(beta), watch('local')]);
    const squad = (id: string, message: string) => callIn(id, 'POST', '/api/chat/squad', { body: { message } });
    const first = await created(alpha, 'Seen by alpha alone');
    await squad(alpha, 'Words for alpha alone');
    await ofAlpha.receives(({ taskId }) => taskId === first);
    await ofAlpha.receives(({ type }) => type === 'squad:message');
    ofBeta.send({ type: 'subscribe', taskId: first });
    await ofBeta.receives(({ code }) => code === 'NOT_FOUND');
    for (const [id, watcher] of [
      [beta, ofBeta],
      ['local', ofLocal],
    ] as const) {
      const own = await created(id, 'Their own');
      await squad(id, 'Their own words');
      await watcher.receives(({ taskId }) => taskId === own);
      await watcher.receives(({ type }) => type === 'squad:message');
      const text = JSON.stringify(watcher.received.filter(({ code }) => code !== 'NOT_FOUND'));
      expect([text.includes(first), text.includes('alpha')]).toEqual([false, false]);
      expect(new Set(watcher.received.map(({ workspaceId }) => workspaceId))).toEqual(new Set([id]));
    }
    [ofAlpha, ofBeta, ofLocal].forEach((watcher) => watcher.close());
  });

  it('is watched with a ticket that was issued for it, without the header', async () => {
    const ticketOf = (id: string, key: string = adminKey) =>
      board.call('POST', '/api/auth/ws-ticket', { key, headers: { 'X-Board-Workspace': id } });
    const { ticket } = (await ticketOf(alpha)).body;
    const watcher = await TestWatcher.open(board.url, {}, `?ticket=${ticket}`);
    const seen = await created(alpha, 'Seen with a ticket');
    await watcher.receives(({ taskId }) => taskId === seen);
    expect(new Set(watcher.received.map(({ workspaceId }) => workspaceId))).toEqual(new Set([alpha]));
    watcher.close();
    expect((await ticketOf('ws-cccccccccccc')).status).toBe(404);
    expect((await ticketOf(alpha, readKey)).status).toBe(403);
  });

  it('is not watched by callers of another, nor when there is none', async () => {
    const open = (key: string, id: string) =>
      TestWatcher.open(board.url, { headers: { 'X-API-Key': key, 'X-Board-Workspace': id } });
    await expect(open(readKey, alpha)).rejects.toThrow('403');
    await expect(open(adminKey, 'ws-cccccccccccc')).rejects.toThrow('404');
  });

  it('is not given what hosts execute by its own administrators, but by those of the installation', async () => {
    const other = await startTestApi();
    const { key, workspaceId } = await aWorkspace(other);
    const agents = { agents: [{ type: 'own', name: 'Own', provider: 'process', command: '/bin/sh' }] };
    const repository = { name: 'own', path: other.dataDir };
    const refused = { status: 403, body: { code: 'FORBIDDEN' } };
    expect(await other.call('PUT', '/api/config/agents', { body: agents, key })).toMatchObject(refused);
    expect(await other.call('POST', '/api/config/repos', { body: repository, key })).toMatchObject(refused);
    const server = { id: 'own', displayName: 'Own', transport: { kind: 'stdio', command: '/bin/sh' } };
    expect(await other.call('POST', '/api/tool-servers', { body: server, key })).toMatchObject(refused);
    const headers = { 'X-Board-Workspace': workspaceId };
    expect(await other.call('PUT', '/api/config/agents', { body: agents, headers })).toMatchObject({ status: 200 });
    const seen = async (options: CallOptions) => (await other.call('GET', '/api/config/agents', options)).body.agents;
    expect((await seen({ key })).map(({ type }: { type: string }) => type)).toEqual(['own']);
    expect(await seen({})).toEqual([]);
    await other.close();
  });

  it('has settings of its own, but for the ceilings that all have in common', async () => {
    const patch = (id: string, body: object) => callIn(id, 'PATCH', '/api/settings/features', { body });
    const ceilings = { admission: { limits: { global: { runs: 3 } } } };
    expect(await patch(alpha, ceilings)).toMatchObject({ status: 409, body: { code: 'INSTALLATION_SETTING' } });
    const scopes = { toolServers: { credentialScopes: [{ name: 'a', environmentKey: 'A_TOKEN', enabled: true }] } };
    expect(await patch(alpha, scopes)).toMatchObject({ status: 409, body: { details: { settings: ['toolServers'] } } });
    expect((await patch('local', scopes)).status).toBe(200);
    expect((await patch('local', ceilings)).status).toBe(200);
    expect((await patch(alpha, { retention: { traceDays: 3 } })).status).toBe(200);
    // What was read can be sent back.
    expect((await patch(alpha, { ...ceilings, ...scopes, retention: { traceDays: 3 } })).status).toBe(200);
    const read = async (id: string) => (await callIn(id, 'GET', '/api/settings/features')).body;
    expect(await read(alpha)).toMatchObject({ ...ceilings, ...scopes, retention: { traceDays: 3 } });
    expect((await read(beta)).retention.traceDays).not.toBe(3);
    expect(await patch(alpha, { squadChat: false })).toMatchObject({ status: 200 });
    const say = (workspace: string) => callIn(workspace, 'POST', '/api/chat/squad', { body: { message: 'Hello' } });
    expect([(await say(alpha)).status, (await say(beta)).status]).toEqual([403, 201]);
    await patch(alpha, { squadChat: true });
  });
});
