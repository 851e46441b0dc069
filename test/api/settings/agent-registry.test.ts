import { runtimeManifest } from '../../../domain/capabilities';
import { digestOf } from '../../../platform/json/digest';
import { createAgentRegistryStore, registrationFreshMs } from '../../../stores/settings/agent-registry-store';
import { createRoutingStore } from '../../../stores/settings/routing-store';
import { adminKey, agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

/** The name of the agent key in these tests; any other name is another agent. */
const own = 'worker';

let board: ApiUnderTest;
beforeEach(async () => {
  board = await startTestApi();
});
afterEach(() => board.close());

const manifest = (supported: string[] = [], fields: object = {}) => {
  const { digest: _digest, ...body } = runtimeManifest(
    'process',
    { ok: true, diagnostics: [] },
    { probedAt: new Date().toISOString(), model: 'large' },
  );
  const capabilities = body.capabilities.map((each) =>
    supported.includes(each.id) ? { ...each, state: 'supported' as const } : each,
  );
  return { ...body, capabilities, ...fields };
};
const register = (body: object, key = agentKey) => board.call('POST', '/api/agents/register', { body, key });
const beat = (id: string, body: object = {}, key = agentKey) =>
  board.call('POST', `/api/agents/register/${id}/heartbeat`, { body, key });
const get = (path: string) => board.call('GET', `/api/agents/register${path}`, { key: readKey });
const announced = (fields: object = {}) => ({ id: own, name: 'Worker', ...fields });

describe('an agent', () => {
  it('announces itself, and is listed, counted and found by what it can do', async () => {
    const capabilities = [{ name: 'sql', description: 'Queries' }];
    const { status, body } = await register(announced({ capabilities, metadata: { region: 'north' }, version: '1' }));
    expect([status, body]).toMatchObject([
      201,
      { id: own, status: 'online', evidence: 'missing', registeredBy: 'agent:worker', provider: null, revision: 1 },
    ]);
    await register({ id: 'second', name: 'Second' });
    expect((await get('')).body.map(({ id }: { id: string }) => id).sort()).toEqual(['second', own]);
    expect((await get('?capability=sql')).body).toMatchObject([{ id: own }]);
    expect((await get('?status=offline')).body).toEqual([]);
    expect((await get('/capabilities/sql')).body).toMatchObject([{ id: own }]);
    expect((await get(`/${own}`)).body).toEqual(body);
    expect((await get('/stats')).body).toMatchObject({
      total: 2,
      online: 2,
      capabilities: [{ name: 'sql', agents: 1 }],
    });
    expect((await get('/health')).body).toMatchObject({ healthy: true, freshnessMs: 300_000, offline: [] });
    expect((await get('/nobody')).status).toBe(404);
  });

  it('reports what it does with each heartbeat', async () => {
    await register(announced());
    const task = { currentTaskId: 'task_20260101_aaaaaa', currentTaskTitle: 'Work' };
    expect((await beat(own, { status: 'busy', ...task })).body).toMatchObject({ status: 'busy', ...task, revision: 2 });
    expect((await beat(own)).body).toMatchObject({ status: 'busy', ...task });
    expect((await beat(own, { status: 'idle' })).body).toMatchObject({ status: 'idle', currentTaskId: null });
    expect((await beat('nobody')).status).toBe(404);
  });

  it('keeps the fields that a heartbeat omits', async () => {
    await register(announced({ capabilities: [{ name: 'sql' }], provider: 'process', version: '1' }));
    const again = await register(announced({ name: 'Renamed' }));
    expect(again.body).toMatchObject({ name: 'Renamed', capabilities: [{ name: 'sql' }], version: '1', revision: 2 });
  });

  it('is forgotten by itself or by those who may write agents', async () => {
    await register(announced());
    await register({ id: 'other', name: 'Other' });
    const remove = (id: string, key: string) => board.call('DELETE', `/api/agents/register/${id}`, { key });
    expect((await remove('other', agentKey)).status).toBe(403);
    expect((await remove(own, agentKey)).body).toEqual({ removed: true });
    expect((await remove(own, agentKey)).status).toBe(404);
    expect((await remove('other', adminKey)).status).toBe(200);
  });

  it('loses no sign of life among many at once', async () => {
    await register(announced());
    const beats = await Promise.all(Array.from({ length: 8 }, () => beat(own)));
    expect(beats.map(({ status }) => status)).toEqual(Array<number>(8).fill(200));
    expect((await get(`/${own}`)).body.revision).toBe(9);
  });
});

describe('evidence', () => {
  it('is the manifest with its digest computed again', async () => {
    const submitted = manifest();
    const { body } = await register(
      announced({ provider: 'process', model: 'large', providerRuntimeManifest: submitted }),
    );
    expect(body).toMatchObject({
      evidence: 'fresh',
      providerRuntimeManifest: { provider: 'process', models: ['large'] },
    });
    const { digest } = body.providerRuntimeManifest;
    const later = { ...submitted, probe: { ...submitted.probe, probedAt: new Date(0).toISOString() } };
    const stated = await beat(own, { providerRuntimeManifest: { ...later, digest: digestOf(later) } });
    expect(stated.body.providerRuntimeManifest.digest).toBe(digest);
    expect((await beat(own, { providerRuntimeManifest: { ...later, digest } })).status).toBe(200);
  });

  const all = manifest();
  const refused: [string, object, string][] = [
    ['a wrong digest', { ...all, digest: `sha256:${'0'.repeat(64)}` }, 'providerRuntimeManifest.digest'],
    [
      'a part of the inventory',
      { ...all, capabilities: all.capabilities.slice(1) },
      'providerRuntimeManifest.capabilities',
    ],
    [
      'a capability twice',
      { ...all, capabilities: [...all.capabilities, all.capabilities[0]] },
      'providerRuntimeManifest.capabilities.39.id',
    ],
    [
      'an unknown capability',
      { ...all, capabilities: [...all.capabilities, { id: 'run.fly', state: 'supported', source: 'runtime-probe' }] },
      'providerRuntimeManifest.capabilities.39.id',
    ],
    [
      'an unknown state',
      { ...all, capabilities: [{ ...all.capabilities[0], state: 'yes' }] },
      'providerRuntimeManifest.capabilities.0.state',
    ],
    [
      'an unknown source',
      { ...all, capabilities: [{ ...all.capabilities[0], source: 'hearsay' }] },
      'providerRuntimeManifest.capabilities.0.source',
    ],
    ['an unknown field', { ...all, trusted: true }, 'providerRuntimeManifest.trusted'],
    [
      'an unknown field of the probe',
      { ...all, probe: { ...all.probe, env: {} } },
      'providerRuntimeManifest.probe.env',
    ],
    [
      'another version of the schema',
      { ...all, schemaVersion: 'provider-runtime-manifest/v2' },
      'providerRuntimeManifest.schemaVersion',
    ],
    ['another provider than it registers', { ...all, provider: 'acp' }, 'providerRuntimeManifest.provider'],
    ['models without the one it registers', { ...all, models: ['small'] }, 'providerRuntimeManifest.models'],
    [
      'what looks like a secret',
      { ...all, probe: { ...all.probe, diagnostics: [`token ghp_${'a1'.repeat(18)}`] } },
      'providerRuntimeManifest.probe.diagnostics.0',
    ],
  ];
  it.each(refused)('is refused with %s, and nothing is registered', async (_case, providerRuntimeManifest, path) => {
    const { status, body } = await register(
      announced({ provider: 'process', model: 'large', providerRuntimeManifest }),
    );
    expect([status, body.details.issues[0].path]).toEqual([400, path]);
    expect(JSON.stringify(body)).not.toContain('ghp_');
    expect((await get(`/${own}`)).status).toBe(404);
  });

  it.each([
    ['a secret in its metadata', { metadata: { note: `sk-${'x'.repeat(30)}` } }, 'metadata.note'],
    ['a field with the name of a secret', { metadata: { token: 'abc' } }, 'metadata.token'],
    ['an unknown field', { endpoint: 'http://x' }, 'endpoint'],
    ['a hostile id', { id: '../x' }, 'id'],
    ['the id of an endpoint', { id: 'stats' }, 'id'],
  ])('comes with no %s', async (_case, fields, path) => {
    const { status, body } = await register(announced(fields));
    expect([status, body.details.issues[0].path]).toEqual([400, path]);
  });

  it('of an agent is written with the key of its name, or by those who may write agents', async () => {
    const evidence = { id: 'other', name: 'Other', provider: 'process', providerRuntimeManifest: manifest() };
    expect((await register(evidence)).body).toMatchObject({
      code: 'FORBIDDEN',
      details: { required: ['agent:write'] },
    });
    expect((await register(evidence, adminKey)).status).toBe(201);
    expect((await beat('other', { providerRuntimeManifest: manifest() })).status).toBe(403);
    expect((await beat('other')).status).toBe(200);
    expect((await register({ id: 'other', name: 'Other', version: '2' })).status).toBe(403);
    expect((await get('/other')).body.evidence).toBe('fresh');
    expect((await register(evidence, readKey)).status).toBe(403);
  });

  it.each([
    ['provider', { provider: 'acp' }],
    ['model', { model: 'small' }],
    ['version', { version: '2' }],
  ])('is invalidated by another %s without new evidence', async (_field, change) => {
    const identity = { provider: 'process', model: 'large', version: '1' };
    await register(announced({ ...identity, providerRuntimeManifest: manifest() }));
    expect((await register(announced(identity))).body.evidence).toBe('fresh');
    const changed = await register(announced({ ...identity, ...change }));
    expect(changed.body).toMatchObject({ evidence: 'invalidated', providerRuntimeManifest: null });
    expect((await register(announced({ ...identity, ...change }))).body.evidence).toBe('invalidated');
    const fresh = manifest([], { provider: 'provider' in change ? 'acp' : 'process', models: ['large', 'small'] });
    expect((await beat(own, { providerRuntimeManifest: fresh })).body.evidence).toBe('fresh');
  });

  it('counts for five minutes after the last sign of life, and again after the next', async () => {
    let time = Date.now();
    const { database, agents, hosts } = board.api.context;
    await board.call('PUT', '/api/config/agents', {
      body: [{ type: 'a', name: 'A', provider: 'process', command: 'true' }],
    });
    await register(announced({ provider: 'process', providerRuntimeManifest: manifest(['run.fork']) }));
    const now = () => new Date(time);
    const routing = await createRoutingStore(database, { agents, hosts, registry: { now } });
    const known = async () => (await routing.inputs()).evidence.filter(({ source }) => source === 'registry');
    expect(await known()).toMatchObject([{ sourceId: own, agent: null }]);
    time = Date.now() + registrationFreshMs + 1_000;
    expect(await known()).toEqual([]);
    const registry = await createAgentRegistryStore(database, { now });
    expect(await registry.get(own)).toMatchObject({ status: 'offline', evidence: 'stale' });
    time = Date.now();
    await beat(own);
    expect(await known()).toHaveLength(1);
  });

  it('is what a route is decided by', async () => {
    await board.call('PUT', '/api/config/agents', {
      body: [{ type: 'a', name: 'A', provider: 'process', command: 'true' }],
    });
    const route = () =>
      board.call('POST', '/api/agents/route', { body: { requiredRuntimeCapabilities: ['run.fork'] } });
    expect((await route()).status).toBe(409);
    await register(announced({ provider: 'process', providerRuntimeManifest: manifest(['run.fork']) }));
    const { body } = await route();
    expect(body.runtimeCandidates).toMatchObject([
      { source: 'declared', selected: false, reasons: [{ code: 'capability-unsupported' }] },
      { source: 'registry', sourceId: own, selected: true, compatible: true },
    ]);
    await beat(own, { providerRuntimeManifest: manifest([], { probe: { ...manifest().probe, state: 'failed' } }) });
    expect((await route()).body.details.runtimeCandidates[1].reasons).toMatchObject([{ code: 'probe-failed' }]);
  });
});
