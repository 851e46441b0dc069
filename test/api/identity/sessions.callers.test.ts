import { eventually } from '../../../platform/testing/eventually';
import { TestWatcher } from '../../support/watcher';
import { adminKey, agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { rawRequest } from '../http/raw-request';

/** Rejects with the code that a watcher is closed with. */
const closed = (watcher: TestWatcher): Promise<never> =>
  eventually(() => expect(watcher.closed).toBeDefined()).then(() => {
    throw new Error(`closed with ${watcher.closed?.code}`);
  });

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
      capabilities: ['agent:run:unrestricted'],
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

  it('without the permission gets its name', async () => {
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

/** Requests that are not this machine's own, whatever the address of their socket. */
const elsewhere: [string, Record<string, string>][] = [
  ['came by another name', { Host: 'evil.example' }],
  ['came by another name with our port', { Host: 'evil.example:3001' }],
  ['came by another port', { Host: 'localhost:1' }],
  ['was made by a foreign page', { Origin: 'https://evil.example' }],
  ['was made by a page of another site', { 'Sec-Fetch-Site': 'cross-site' }],
  ['was made by a page of another site, in an older browser', { Referer: 'https://evil.example/' }],
  ...[
    'X-Real-IP',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'CF-Connecting-IP',
    'Forwarded',
    'True-Client-IP',
  ].map((name): [string, Record<string, string>] => [`came with ${name}`, { [name]: '127.0.0.1' }]),
];

describe('a service without authentication', () => {
  it('answers no request that comes from elsewhere', async () => {
    await open({ BOARD_AUTH_ENABLED: 'false' });
    for (const [name, headers] of elsewhere) {
      const refused = await rawRequest(board.url, { path: '/api/tasks', headers });
      expect([name, [401, 403].includes(refused.status)]).toEqual([name, true]);
      await expect(TestWatcher.open(board.url, { headers }).then(closed)).rejects.toThrow(/403|4001/);
    }
  });

  it('answers those of this machine, and takes a key from elsewhere', async () => {
    await open({ BOARD_AUTH_ENABLED: 'false' });
    const { port } = new URL(board.url);
    for (const Host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
      expect((await rawRequest(board.url, { path: '/api/tasks', headers: { Host } })).status).toBe(200);
    }
    const Via = '1.1 proxy';
    const byKey = await rawRequest(board.url, { path: '/api/auth/context', headers: { Via, 'X-API-Key': agentKey } });
    expect(JSON.parse(byKey.text)).toMatchObject({ role: 'agent', authMethod: 'api-key' });
    expect((await rawRequest(board.url, { path: '/health/live', headers: { Host: 'probe.example' } })).status).toBe(
      200,
    );
  });
});

describe('pages of another site', () => {
  it('get nothing from any route, whatever they send, unless their origin is allowed', async () => {
    await open({ BOARD_ALLOWED_ORIGINS: 'https://ui.example' });
    const site = { 'Sec-Fetch-Site': 'cross-site', 'X-API-Key': adminKey };
    const read = (headers: Record<string, string>) => rawRequest(board.url, { path: '/api/tasks', headers });
    expect((await read(site)).status).toBe(403);
    expect((await read({ ...site, Origin: 'https://evil.example' })).status).toBe(403);
    expect((await read({ ...site, Origin: 'https://ui.example' })).status).toBe(200);
    expect((await read({ ...site, 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
  });
});

describe('failed authentications', () => {
  const audited = async () => {
    const { body } = await board.call('GET', '/api/audit?action=auth.failed');
    return (body.entries as { resource: string; details: object }[]).map(({ resource, details }) => ({
      resource,
      details,
    }));
  };

  it('are limited by address over HTTP and the WebSocket together, and audited once', async () => {
    await open({ RATE_LIMIT_AUTH_FAILURES: '4' });
    const guess = () => board.call('GET', '/api/tasks', { key: 'a guess' });
    expect((await guess()).status).toBe(401);
    expect((await board.call('GET', '/api/tasks', { key: null })).status).toBe(401);
    expect((await board.call('GET', '/api/auth/status', { key: 'a guess' })).status).toBe(200);
    await expect(closed(await TestWatcher.open(board.url, {}, '?api_key=guess'))).rejects.toThrow('4001');
    const refused = await guess();
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 4 } });
    expect(refused.headers.get('X-RateLimit-Limit')).toBe('4');
    expect(refused.headers.get('X-RateLimit-Remaining')).toBe('0');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    await expect(TestWatcher.open(board.url, {}, '?api_key=guess')).rejects.toThrow('429');
    // A right guess on an open route would be one too.
    expect((await board.call('GET', '/api/auth/status', { key: 'a guess' })).status).toBe(429);
    expect((await board.call('GET', '/api/auth/status', { key: null })).status).toBe(200);
    expect((await board.call('GET', '/api/tasks')).status).toBe(200);
    await eventually(async () => expect(await audited()).toHaveLength(1));
    expect(await audited()).toEqual([{ resource: '127.0.0.1', details: { via: 'http', reason: 'wrong key' } }]);
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

  it('do not count when they present a wrong key, nor when the request comes from elsewhere', async () => {
    await open(bypass);
    for (const [name, headers] of [...elsewhere, ['presents a wrong key', { 'X-API-Key': 'nothing' }] as const]) {
      const refused = await rawRequest(board.url, { path: '/api/auth/context', headers: { ...headers } });
      expect([name, [401, 403].includes(refused.status)]).toEqual([name, true]);
    }
  });

  it('have no privileges in production', async () => {
    await open({ ...bypass, NODE_ENV: 'production' });
    expect((await context()).status).toBe(401);
    expect((await context({ 'X-API-Key': adminKey })).status).toBe(200);
  });
});

describe('GET /api/auth/status', () => {
  const status = (headers: Record<string, string> = {}) =>
    board.call('GET', '/api/auth/status', { key: null, headers });

  it('reports anonymous callers as such', async () => {
    await open();
    const { body } = await status();
    expect(body).toEqual({
      needsSetup: true,
      authenticated: false,
      sessionExpiry: null,
      authEnabled: true,
      oidc: false,
      role: null,
    });
  });

  it('reports the role of a key', async () => {
    await open();
    expect((await status({ 'X-API-Key': readKey })).body).toMatchObject({ authenticated: true, role: 'read-only' });
  });

  it('reports that no key is required', async () => {
    await open({ BOARD_AUTH_ENABLED: 'false' });
    expect((await status()).body).toMatchObject({ authenticated: true, authEnabled: false, role: 'admin' });
    expect((await context()).body).toMatchObject({ authMethod: 'disabled', role: 'admin' });
  });
});
