import { adminKey, agentKey, readKey, startTestApi, type ApiUnderTest } from './api-under-test';
import { rawRequest } from './raw-request';

let board: ApiUnderTest;
const open = async (settings: Record<string, string> = {}) => (board = await startTestApi(settings));
afterEach(() => board.close());

const context = (headers: Record<string, string> = {}) =>
  board.call('GET', '/api/auth/context', { key: null, headers });

describe('a key', () => {
  it.each([
    ['X-API-Key', { 'X-API-Key': agentKey }],
    ['a bearer token', { Authorization: `Bearer ${agentKey}` }],
  ])('is taken as %s', async (_case, headers: Record<string, string>) => {
    await open();
    const { status, body } = await context(headers);
    expect(status).toBe(200);
    expect(body).toEqual({
      role: 'agent',
      userId: 'local-user',
      workspaceId: 'local',
      actorType: 'agent',
      authMethod: 'api-key',
      tokenName: 'worker',
      permissions: expect.arrayContaining(['task:read', 'task:write']),
      actor: 'agent:worker',
    });
  });

  it.each([
    ['none', {}],
    ['a wrong one', { 'X-API-Key': `${adminKey}x` }],
    ['an empty one', { 'X-API-Key': '' }],
    ['a wrong bearer token', { Authorization: 'Bearer nothing' }],
    ['a wrong bearer token beside a right key', { Authorization: 'Bearer nothing', 'X-API-Key': adminKey }],
    ['a password', { Authorization: `Basic ${Buffer.from(`admin:${adminKey}`).toString('base64')}` }],
  ])('is required: %s is 401', async (_case, headers) => {
    await open();
    const refused = await context(headers);
    expect(refused.status).toBe(401);
    expect(refused.body).toMatchObject({ code: 'AUTH_REQUIRED', details: {} });
    expect(refused.headers.get('WWW-Authenticate')).toBe('Bearer');
  });

  it('in the query opens nothing but the WebSocket', async () => {
    await open();
    expect((await board.call('GET', `/api/auth/context?api_key=${adminKey}`, { key: null })).status).toBe(401);
  });

  it('is required before a body is even read', async () => {
    await open();
    const refused = await rawRequest(board.url, {
      method: 'POST',
      path: '/api/tasks',
      headers: { 'Content-Type': 'application/json' },
      body: 'not JSON',
    });
    expect(refused.status).toBe(401);
  });
});

describe('a role', () => {
  it('of read-only may only read', async () => {
    await open();
    expect((await board.call('GET', '/api/tasks', { key: readKey })).status).toBe(200);
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const path = method === 'POST' ? '/api/tasks' : '/api/tasks/task_1';
      const refused = await board.call(method, path, { key: readKey, body: {} });
      expect(refused.status).toBe(403);
      expect(refused.body).toMatchObject({
        code: 'WRITE_FORBIDDEN',
        details: { required: ['task:write'], currentRole: 'read-only' },
      });
    }
  });

  it('without the permission is told which one', async () => {
    await open();
    const refused = await board.call('GET', '/api/config/agents', { key: agentKey });
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      code: 'FORBIDDEN',
      details: {
        required: ['settings:read'],
        currentRole: 'agent',
        currentPermissions: expect.arrayContaining(['task:read']),
      },
    });
  });

  it('of admin may everything, as a service', async () => {
    await open();
    const { body } = await context({ 'X-API-Key': adminKey });
    expect(body).toMatchObject({
      role: 'admin',
      actor: 'service:admin',
      permissions: expect.arrayContaining(['admin:manage']),
    });
  });
});

describe('callers on this machine', () => {
  const bypass = { BOARD_AUTH_LOCALHOST_BYPASS: 'true', BOARD_AUTH_LOCALHOST_ROLE: 'agent' };

  it('need no key when the bypass is on', async () => {
    await open(bypass);
    expect((await context()).body).toMatchObject({
      role: 'agent',
      authMethod: 'localhost-bypass',
      actor: 'localhost-bypass:localhost-bypass',
    });
  });

  it('may only read unless another role is set', async () => {
    await open({ BOARD_AUTH_LOCALHOST_BYPASS: 'true' });
    expect((await context()).body.role).toBe('read-only');
    expect((await board.call('POST', '/api/tasks', { key: null, body: { title: 'a' } })).status).toBe(403);
  });

  it.each([
    ['presents a wrong key', { 'X-API-Key': 'nothing' }],
    ['was forwarded by a proxy', { 'X-Forwarded-For': '127.0.0.1' }],
    ['came by another name', { Host: 'evil.example' }],
    ['was made by a foreign page', { Origin: 'https://evil.example' }],
  ])('do not count when the request %s', async (_case, headers: Record<string, string>) => {
    await open(bypass);
    expect((await rawRequest(board.url, { path: '/api/auth/context', headers })).status).toBe(401);
  });

  it('are nobody special in production', async () => {
    await open({ ...bypass, NODE_ENV: 'production' });
    expect((await context()).status).toBe(401);
    expect((await context({ 'X-API-Key': adminKey })).status).toBe(200);
  });
});

describe('GET /api/auth/status', () => {
  const status = (headers: Record<string, string> = {}) =>
    board.call('GET', '/api/auth/status', { key: null, headers });

  it('tells strangers that they are', async () => {
    await open();
    const { body } = await status();
    expect(body).toEqual({
      needsSetup: false,
      authenticated: false,
      sessionExpiry: null,
      authEnabled: true,
      role: null,
    });
  });

  it('tells holders of a key their role', async () => {
    await open();
    expect((await status({ 'X-API-Key': readKey })).body).toMatchObject({ authenticated: true, role: 'read-only' });
  });

  it('tells that nobody needs a key', async () => {
    await open({ BOARD_AUTH_ENABLED: 'false' });
    expect((await status()).body).toMatchObject({ authenticated: true, authEnabled: false, role: 'admin' });
    expect((await context()).body).toMatchObject({ authMethod: 'disabled', role: 'admin' });
  });
});
