import { agentKey, type ApiUnderTest, startTestApi } from '../api-under-test';

let api: ApiUnderTest;

beforeAll(async () => {
  api = await startTestApi();
  const agents = [
    { type: 'jailed', name: 'Jailed', provider: 'process', command: 'sh', hostEnforced: ['network.disable'] },
  ];
  expect((await api.call('PUT', '/api/config/agents', { body: { agents } })).status).toBe(200);
  for (const preset of [
    { id: 'closed', name: 'Closed', network: { defaultEgress: 'deny' }, environment: { passthrough: ['API_URL'] } },
    { id: 'hidden', name: 'Hidden', filesystem: { deniedPaths: ['secrets'] } },
    { id: 'hinted', name: 'Hinted', enforcement: 'advisory', filesystem: { deniedPaths: ['secrets'] } },
    { id: 'whole', name: 'Whole', enforcement: 'advisory', filesystem: { deniedPaths: ['/srv/work'] } },
    { id: 'brokered', name: 'Brokered', credentials: { mode: 'broker', brokerRefs: ['git'] } },
  ]) {
    expect((await api.call('POST', '/api/sandbox-policies', { body: preset })).status).toBe(201);
  }
});
afterAll(() => api.close());

const validate = (presetId: string, fields: object = {}, key?: string) =>
  api.call('POST', '/api/sandbox-policies/validate', {
    body: { presetId, provider: 'process', ...fields },
    ...(key === undefined ? {} : { key }),
  });

describe('the validation of a sandbox preset', () => {
  test('allows what the provider enforces, and records the decision', async () => {
    const { status, body } = await validate('closed', { workspacePath: '/srv/work' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        decision: 'allow',
        provider: 'process',
        effective: {
          sandboxMode: 'unconfined',
          networkAccessEnabled: false,
          envPassthrough: ['API_URL'],
          credentialRefs: [],
        },
        unsupportedRules: [],
        warnings: [],
      },
    });
    const trace = await api.call('GET', `/api/governance/traces/${body.traceId}`);
    expect(trace.body).toMatchObject({
      kind: 'sandbox-policy',
      outcome: 'allowed',
      subject: { actionType: 'sandbox.validate' },
    });
    const again = await validate('closed', { providerRuntimeManifestDigest: body.providerRuntimeManifestDigest });
    expect(again.body.decision).toBe('allow');
  });

  test('blocks what a required preset needs and nothing enforces, and warns under an advisory one', async () => {
    const rule = { rule: 'filesystem.deniedPaths', capabilityId: 'filesystem.deny-paths', state: 'unsupported' };
    const blocked = await validate('hidden');
    expect(blocked.body).toMatchObject({ decision: 'block', unsupportedRules: [rule], warnings: [] });
    const trace = await api.call('GET', `/api/governance/traces/${blocked.body.traceId}`);
    expect(trace.body).toMatchObject({
      outcome: 'blocked',
      matchedRules: [{ label: 'filesystem.deniedPaths', outcome: 'blocked' }],
    });
    expect((await validate('hinted')).body).toMatchObject({
      decision: 'warn',
      unsupportedRules: [rule],
      warnings: [rule],
    });
    expect((await validate('brokered')).body).toMatchObject({
      decision: 'block',
      effective: { credentialRefs: ['git'] },
      unsupportedRules: [{ rule: 'credentials', capabilityId: 'credential.broker' }],
    });
  });

  test('blocks for a capability that is required besides, also under an advisory preset', async () => {
    expect((await validate('hinted', { requiredCapabilities: ['run.fork'] })).body).toMatchObject({
      decision: 'block',
      unsupportedRules: [
        { rule: 'requiredCapabilities', capabilityId: 'run.fork' },
        { rule: 'filesystem.deniedPaths' },
      ],
    });
    expect((await validate('closed', { requiredCapabilities: ['run.steer'] })).body).toMatchObject({
      decision: 'warn',
      warnings: [{ rule: 'requiredCapabilities', capabilityId: 'run.steer', state: 'advisory' }],
    });
  });

  test('blocks a preset that denies the workspace itself', async () => {
    expect((await validate('whole', { workspacePath: '/srv/work/task' })).body.decision).toBe('block');
    expect((await validate('whole', { workspacePath: '/srv/other' })).body.decision).toBe('warn');
  });

  test('refuses what is not there, and another provider than that of the manifest', async () => {
    expect((await validate('nowhere')).status).toBe(404);
    const { body } = await validate('closed');
    const digest = body.providerRuntimeManifestDigest;
    expect((await validate('closed', { providerRuntimeManifestDigest: `sha256:${'0'.repeat(64)}` })).status).toBe(404);
    expect((await validate('closed', { provider: 'acp', providerRuntimeManifestDigest: digest })).status).toBe(409);
    expect((await validate('closed', { provider: 'acp' })).status).toBe(409);
    expect((await validate('closed', { workspacePath: 'relative' })).status).toBe(400);
  });

  test('is for agents too, as the evaluation of policies', async () => {
    expect((await validate('closed', {}, agentKey)).status).toBe(200);
  });
});
