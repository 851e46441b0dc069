import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let api: ApiUnderTest;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const profile = {
  name: 'Careful',
  agent: 'bee',
  model: 'large',
  instructions: 'Take care.',
  requiredChecks: [{ kind: 'agent-enabled' }, { kind: 'capability', capability: 'run.start' }],
  restrictions: { tools: { denied: ['shell'] }, mcpServers: ['docs'], permissions: ['read'] },
};
const preset = {
  name: 'Tight Box',
  enforcement: 'required',
  requiredCapabilities: ['environment.allowlist'],
  filesystem: {
    readPaths: ['src'],
    writePaths: ['src'],
    deniedPaths: ['.env'],
    dotfileMasking: true,
    localOnlyHandles: true,
  },
  network: {
    defaultEgress: 'deny',
    allowedHosts: ['*.example.org', 'api.example.org:443'],
    allowedMethods: ['GET'],
    allowedPathPrefixes: ['/v1'],
    blockPrivateNetwork: true,
    blockMetadataEndpoints: true,
    blockLoopback: true,
  },
  environment: { passthrough: ['API_URL'], redactDisplay: true },
  credentials: { mode: 'broker', brokerRefs: ['git'] },
};

describe('profiles', () => {
  test('are written, read, listed and forgotten', async () => {
    const written = await api.call('PUT', '/api/config/profiles/careful', { body: profile });
    expect(written).toMatchObject({ status: 200, body: { id: 'careful', revision: 1, enabled: true, ...profile } });
    expect(await api.call('GET', '/api/config/profiles/careful')).toMatchObject({ status: 200, body: written.body });
    const listed = await api.call('GET', '/api/config/profiles');
    expect(listed.body.profiles).toEqual([written.body]);
    expect((await api.call('DELETE', '/api/config/profiles/careful')).status).toBe(204);
    expect((await api.call('GET', '/api/config/profiles/careful')).status).toBe(404);
    expect((await api.call('DELETE', '/api/config/profiles/careful')).status).toBe(404);
  });

  test('change from the revision their writer has seen, and lose what is left out', async () => {
    await api.call('PUT', '/api/config/profiles/versioned', { body: profile });
    const headers = { 'If-Match': '"profiles:versioned:1"' };
    const plain = { name: 'Plain', agent: 'bee' };
    const second = await api.call('PUT', '/api/config/profiles/versioned', { body: plain, headers });
    expect(second).toMatchObject({ status: 200, body: { revision: 2, instructions: '', restrictions: {} } });
    expect(second.body.model).toBeUndefined();
    const stale = await api.call('PUT', '/api/config/profiles/versioned', { body: profile, headers });
    expect(stale).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  test('are forgotten only from the revision that was seen, if one is stated', async () => {
    const forget = (headers: Record<string, string>) => api.call('DELETE', '/api/config/profiles/kept', { headers });
    await api.call('PUT', '/api/config/profiles/kept', { body: profile });
    await api.call('PUT', '/api/config/profiles/kept', { body: { ...profile, name: 'More careful' } });
    expect(await forget({ 'If-Match': '"profiles:kept:1"' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', details: { resourceId: 'kept', expectedRevision: 1 } },
    });
    expect((await forget({ 'X-Resource-Revision': '3' })).status).toBe(409);
    expect((await forget({ 'If-Match': '"profiles:other:2"' })).status).toBe(400);
    expect((await api.call('GET', '/api/config/profiles/kept')).status).toBe(200);
    expect((await forget({ 'If-Match': '"profiles:kept:1", "profiles:kept:2"' })).status).toBe(204);
    expect((await forget({ 'If-Match': '"profiles:kept:2"' })).status).toBe(404);
  });

  test.each([
    ['an unknown field', { ...profile, command: 'rm' }, 'command'],
    ['instructions that are too long', { ...profile, instructions: 'x'.repeat(20_001) }, 'instructions'],
    [
      'a check that would run a command',
      { ...profile, requiredChecks: [{ kind: 'command', command: 'x' }] },
      'requiredChecks.0.kind',
    ],
    ['a hostile agent', { ...profile, agent: '../x' }, 'agent'],
  ])('%s is refused by its path', async (_name, body, path) => {
    const answer = await api.call('PUT', '/api/config/profiles/bad', { body });
    expect(answer.status).toBe(400);
    expect(answer.body.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
  });

  test.each([
    ['instructions', { instructions: 'Log in with password=correct-horse-battery.' }, 'instructions'],
    ['the description', { description: `key sk-${'x'.repeat(40)}` }, 'description'],
    ['the name', { name: `ghp_${'a1'.repeat(18)}` }, 'name'],
    ['the model', { model: 'https://me:letmein@models.example.org' }, 'model'],
    [
      'a restriction',
      { restrictions: { tools: { denied: ['shell', 'AKIAIOSFODNN7EXAMPLE'] } } },
      'restrictions.tools.denied.1',
    ],
  ])('a credential in %s is refused by its path, is not repeated, and is not kept', async (_name, fields, path) => {
    const answer = await api.call('PUT', '/api/config/profiles/leaky', { body: { ...profile, ...fields } });
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path, code: 'credential' }] } } });
    expect(JSON.stringify(answer.body)).not.toMatch(/battery|sk-x|ghp_|letmein|AKIA/);
    expect((await api.call('GET', '/api/config/profiles/leaky')).status).toBe(404);
  });

  test('may speak of credentials, and hold digests and identities', async () => {
    const instructions = [
      'Never write a password, token or API key into a file. Ask for the password: no.',
      `The build is sha256:${'0123456789abcdef'.repeat(4)}, made from ${'ab12'.repeat(10)}.`,
      'The ticket is 123e4567-e89b-12d3-a456-426614174000; see https://host:8080/a@b.',
    ].join('\n');
    const restrictions = {
      tools: { denied: ['password', 'password-manager'] },
      permissions: ['token', 'token.read-write'],
    };
    const answer = await api.call('PUT', '/api/config/profiles/wordy', {
      body: { ...profile, instructions, restrictions },
    });
    expect(answer).toMatchObject({ status: 200, body: { instructions, restrictions } });
  });

  test.each(['..%2f..', '%00', 'a b', 'a'.repeat(65), '__proto__'])('the hostile id %s is refused', async (id) => {
    expect([400, 404]).toContain((await api.call('PUT', `/api/config/profiles/${id}`, { body: profile })).status);
  });

  test('need the permissions of settings', async () => {
    expect((await api.call('PUT', '/api/config/profiles/x', { body: profile, key: agentKey })).status).toBe(403);
    expect((await api.call('GET', '/api/config/profiles', { key: readKey })).status).toBe(200);
  });
});

describe('sandbox presets', () => {
  test('are created, read, changed and forgotten', async () => {
    const created = await api.call('POST', '/api/sandbox-policies', { body: preset });
    expect(created).toMatchObject({
      status: 201,
      body: { id: 'tight-box', ...preset, createdAt: expect.any(String), updatedAt: expect.any(String) },
    });
    expect((await api.call('POST', '/api/sandbox-policies', { body: preset })).status).toBe(409);
    const changed = await api.call('PUT', '/api/sandbox-policies/tight-box', { body: { ...preset, enabled: false } });
    expect(changed).toMatchObject({ status: 200, body: { enabled: false, revision: 2 } });
    const stale = await api.call('PUT', '/api/sandbox-policies/tight-box', {
      body: preset,
      headers: { 'X-Resource-Revision': '1' },
    });
    expect(stale.status).toBe(409);
    expect((await api.call('GET', '/api/sandbox-policies')).body.presets).toEqual([changed.body]);
    const forget = (revision: number) =>
      api.call('DELETE', '/api/sandbox-policies/tight-box', {
        headers: { 'If-Match': `"sandbox-presets:tight-box:${revision}"` },
      });
    expect(await forget(1)).toMatchObject({ status: 409, body: { details: { expectedRevision: 1 } } });
    expect((await forget(2)).status).toBe(204);
    expect((await api.call('GET', '/api/sandbox-policies/tight-box')).status).toBe(404);
    expect((await api.call('PUT', '/api/sandbox-policies/tight-box', { body: preset })).status).toBe(404);
  });

  test('render nothing but their name where everything is allowed', async () => {
    const created = await api.call('POST', '/api/sandbox-policies', { body: { id: 'open', name: 'Open' } });
    expect(created).toMatchObject({
      status: 201,
      body: { id: 'open', enforcement: 'required', network: { defaultEgress: 'allow' }, credentials: { mode: 'none' } },
    });
  });

  test.each([
    ['a climbing path', { filesystem: { writePaths: ['src/../../etc'] } }, 'filesystem.writePaths.0'],
    ['a URL for a host', { network: { allowedHosts: ['http://x/'] } }, 'network.allowedHosts.0'],
    [
      'a port that is none',
      { network: { defaultEgress: 'deny', allowedHosts: ['x:70000'] } },
      'network.allowedHosts.0',
    ],
    ['hosts beside everything else', { network: { allowedHosts: ['x.example'] } }, 'network.allowedHosts'],
    ['too little memory', { resources: { memoryMb: 1 } }, 'resources.memoryMb'],
    ['a prefix without a slash', { network: { allowedPathPrefixes: ['v1'] } }, 'network.allowedPathPrefixes.0'],
    ['a value of a variable', { environment: { passthrough: ['TOKEN=abc'] } }, 'environment.passthrough.0'],
    ['a credential for its name', { credentials: { brokerRefs: ['user:pass@x'] } }, 'credentials.brokerRefs.0'],
    ['an unknown control', { filesystem: { chroot: true } }, 'filesystem.chroot'],
    ['an unknown enforcement', { enforcement: 'sometimes' }, 'enforcement'],
    ['a name without letters', { name: '***' }, 'id'],
  ])('%s is refused by its path', async (_name, fields, path) => {
    const answer = await api.call('POST', '/api/sandbox-policies', { body: { name: 'Bad', ...fields } });
    expect(answer.status).toBe(400);
    expect(answer.body.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
  });

  test('need the permissions of policies', async () => {
    expect((await api.call('POST', '/api/sandbox-policies', { body: preset, key: agentKey })).status).toBe(403);
    expect((await api.call('GET', '/api/sandbox-policies', { key: readKey })).status).toBe(200);
  });
});
