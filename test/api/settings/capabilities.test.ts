import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('capabilities API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const base = '/api/workspace-capabilities';
  const manifest = {
    workspaceId: 'north',
    name: 'North',
    endpoint: 'https://north.example/api',
    capabilities: [{ id: 'review', name: 'Reviews', taskTypes: ['review'], outputs: ['comments'] }],
  };
  const call = (method: string, path: string, body?: unknown, key?: string) =>
    board.call(method, `${base}${path}`, { body, ...(key === undefined ? {} : { key }) });
  const secret = `ghp_${'a1'.repeat(18)}`;

  it('reports that the workspace is there until it is described', async () => {
    const { body, headers } = await call('GET', '/manifest', undefined, agentKey);
    expect(body).toMatchObject({
      schemaVersion: 'workspace-capabilities/v1',
      workspaceId: 'local',
      capabilities: [],
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(headers.get('X-Resource-Revision')).toBe('0');
  });

  it('is set as a whole, sealed with its digest, at a revision', async () => {
    const set = await call('PUT', '/manifest', manifest);
    expect([set.status, set.body]).toMatchObject([200, manifest]);
    expect((await call('GET', '/manifest')).body).toEqual(set.body);
    expect((await call('PUT', '/manifest', set.body)).body).toEqual(set.body);
    await call('PUT', '/manifest', { ...manifest, name: 'South' });
    const stale = await board.call('PUT', `${base}/manifest`, {
      body: manifest,
      headers: { 'X-Resource-Revision': '1' },
    });
    expect(stale.status).toBe(409);
  });

  it.each([
    ['a digest that is not its own', { ...manifest, digest: `sha256:${'0'.repeat(64)}` }, 'digest'],
    ['what looks like a secret', { ...manifest, description: `use ${secret}` }, 'description'],
    ['a password in its address', { ...manifest, endpoint: 'https://me:letmein@north.example' }, 'endpoint'],
    ['another kind of address', { ...manifest, endpoint: 'file:///etc/passwd' }, 'endpoint'],
    [
      'two capabilities of one id',
      { ...manifest, capabilities: [manifest.capabilities[0], manifest.capabilities[0]] },
      'capabilities',
    ],
    ['an unknown field', { ...manifest, keys: [] }, 'keys'],
    ['a hostile id', { ...manifest, workspaceId: '../x' }, 'workspaceId'],
  ])('is refused with %s, and validation reports the same', async (_case, body, path) => {
    for (const refused of [await call('PUT', '/manifest', body), await call('POST', '/trusted', body)]) {
      expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
      expect(JSON.stringify(refused.body)).not.toContain('ghp_');
    }
    const { body: validation } = await call('POST', '/manifest/validate', body);
    expect(validation).toMatchObject({ valid: false, manifest: null });
    expect(validation.issues[0]).toMatchObject({ severity: 'error', path });
    expect((await call('GET', '/manifest')).body.workspaceId).toBe('local');
    expect((await call('GET', '/trusted')).body).toEqual({ workspaces: [] });
  });

  it.each(['yaml', 'json'])('goes out as %s and comes back the same', async (format) => {
    const { body: set } = await call('PUT', '/manifest', manifest);
    const exported = await call('GET', `/manifest/export?format=${format}`, undefined, readKey);
    const content = format === 'json' ? JSON.stringify(exported.body) : (exported.body as string);
    await call('PUT', '/manifest', { ...manifest, name: 'Other' });
    expect((await call('POST', '/manifest/validate', { content, format })).body).toEqual({
      valid: true,
      manifest: set,
      issues: [],
    });
    expect((await call('POST', '/manifest/import', { content, format })).body).toEqual(set);
    expect((await call('POST', '/manifest/import', { content: 'a: &x [*x]' })).body.details.issues[0].path).toBe(
      'content',
    );
  });

  it('trusts other workspaces by what they declare, and no longer', async () => {
    const trusted = await call('POST', '/trusted', manifest);
    expect([trusted.status, trusted.body]).toMatchObject([
      201,
      { workspaceId: 'north', manifest, trustedBy: 'service:admin', revision: 1 },
    ]);
    const again = await call('POST', '/trusted', { ...manifest, name: 'North again' });
    expect(again.body).toMatchObject({ manifest: { name: 'North again' }, revision: 2 });
    expect((await call('GET', '/trusted', undefined, readKey)).body.workspaces).toEqual([again.body]);
    expect((await call('GET', '/manifest/trusted')).body.workspaces).toHaveLength(1);
    expect((await call('DELETE', '/trusted/north')).status).toBe(204);
    expect((await call('DELETE', '/trusted/north')).status).toBe(404);
    expect((await call('POST', '/trusted', { ...manifest, workspaceId: 'local' })).status).toBe(409);
  });

  it('is read and written by those who may', async () => {
    expect((await call('PUT', '/manifest', manifest, agentKey)).status).toBe(403);
    expect((await call('POST', '/trusted', manifest, agentKey)).status).toBe(403);
    expect((await call('DELETE', '/trusted/north', undefined, agentKey)).status).toBe(403);
    expect((await call('POST', '/manifest/validate', manifest, agentKey)).status).toBe(200);
  });
});
