import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { hostileProgram, programOf } from '../../support/factories/tool-server';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
const secret = 'hush-hush-0815';
beforeAll(async () => {
  process.env.TOOL_SECRET = secret;
  // A machine under load delays a worker; one that counts as asleep repeats a discovery.
  stack = await startStack({ BOARD_HEARTBEAT_TIMEOUT_MS: '30000' });
});
afterAll(async () => {
  await stack.close();
  delete process.env.TOOL_SECRET;
});

let made = 0;
const define = async (fields: object): Promise<string> => {
  made += 1;
  const id = `server-${made}`;
  await stack.call.ok('POST', '/api/tool-servers', { id, displayName: id, ...fields });
  return id;
};
const discover = (id: string, body: object = {}) => stack.call.post(`/api/tool-servers/${id}/discover`, body);
const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);
const startsIn = (file: string): string[] => readFileSync(file, 'utf8').trim().split('\n');
const scopes = (credentialScopes: object[]) =>
  stack.call.ok('PATCH', '/api/settings/features', { toolServers: { credentialScopes } });

describe('the discovery of a tool server', () => {
  it('lists the tools of the server "everything" with the policy of its definition', async () => {
    const id = await define({ transport: programOf('everything'), deniedTools: ['get-env'], approvalMode: 'always' });
    const { status, body } = await discover(id);
    expect({ status, code: body.code, message: body.error }).toMatchObject({ status: 200 });
    expect(body).toMatchObject({ serverId: id, hostId: stack.worker.hostId, state: 'ready', cached: false });
    expect(body.server.name).toMatch(/everything/);
    expect(body.tools).toContainEqual(expect.objectContaining({ name: 'echo', policy: 'approval-required' }));
    expect(body.tools).toContainEqual(expect.objectContaining({ name: 'get-env', policy: 'denied' }));

    const { health } = await stack.call.ok('GET', `/api/tool-servers/${id}`);
    expect(health).toMatchObject({
      state: 'ready',
      hosts: [{ hostId: stack.worker.hostId, state: 'ready', toolCount: body.tools.length }],
    });
    const { entries } = await stack.call.ok('GET', '/api/audit?action=tool-server.discover');
    expect(entries).toContainEqual(
      expect.objectContaining({ resource: id, details: expect.objectContaining({ state: 'ready', cached: false }) }),
    );
  });

  it('lists the tools of the servers "filesystem" and "memory"', async () => {
    const files = await discover(await define({ transport: programOf('filesystem', stack.dir) }));
    expect(namesOf(files.body)).toEqual(expect.arrayContaining(['read_text_file', 'write_file']));
    const memory = await discover(await define({ transport: programOf('memory') }));
    expect(namesOf(memory.body)).toEqual(expect.arrayContaining(['create_entities', 'read_graph']));
  });

  it('is stored for its definition, and repeated for another one or with bypassCache', async () => {
    const file = join(stack.dir, 'counted');
    const transport = hostileProgram('counts', file);
    const id = await define({ transport });
    const first = await discover(id);
    const again = await discover(id);
    expect(again.body).toEqual({ ...first.body, cached: true });
    expect(startsIn(file)).toHaveLength(1);

    expect((await discover(id, { bypassCache: true })).body).toMatchObject({ state: 'ready', cached: false });
    expect(startsIn(file)).toHaveLength(2);

    await stack.call.ok('PUT', `/api/tool-servers/${id}`, { displayName: 'Changed', transport, allowedTools: [] });
    expect((await stack.call.ok('GET', `/api/tool-servers/${id}`)).health).toEqual({ state: 'unknown', hosts: [] });
    expect((await discover(id)).body).toMatchObject({ cached: false, tools: [{ name: 'echo', policy: 'denied' }] });
    expect(startsIn(file)).toHaveLength(3);
  });

  it('is one for callers who request it at once', async () => {
    const file = join(stack.dir, 'gated');
    const id = await define({ transport: hostileProgram('gated', file) });
    const requested = [discover(id), discover(id, { bypassCache: true })];
    await eventually(() => expect(existsSync(file)).toBe(true));
    requested.push(discover(id));
    await eventually(async () => {
      const running = stack.temporal.workflow.list({
        query: "WorkflowType='toolDiscovery' AND ExecutionStatus='Running'",
      });
      for await (const { workflowId } of running) {
        expect(workflowId).toContain(id);
        return;
      }
      throw new Error('no discovery runs');
    });
    writeFileSync(`${file}.open`, '');
    const states = (await Promise.all(requested)).map(({ body }) => body.state);
    expect(states).toEqual(['ready', 'ready', 'ready']);
    expect(startsIn(file)).toHaveLength(1);
  });

  it('reports a server that cannot be used, and tries it again', async () => {
    const file = join(stack.dir, 'once');
    const id = await define({ transport: hostileProgram('dies-once', file) });
    const failed = await discover(id);
    expect(failed).toMatchObject({ status: 200, body: { state: 'failed', tools: [], error: { code: 'ended' } } });
    expect((await stack.call.ok('GET', `/api/tool-servers/${id}`)).health.state).toBe('failed');
    expect((await discover(id)).body).toMatchObject({ state: 'ready', cached: false });
  });

  it('resolves credentials through enabled scopes only, and shows them nowhere', async () => {
    const transport = { ...hostileProgram('secrets'), credentialReferences: ['hush'] };
    const id = await define({ transport });
    expect(await discover(id)).toMatchObject({
      status: 409,
      body: { code: 'CREDENTIAL_SCOPE_UNAVAILABLE', details: { scope: 'hush', state: 'unknown' } },
    });
    await scopes([{ name: 'hush', environmentKey: 'TOOL_SECRET', enabled: false }]);
    expect(await discover(id)).toMatchObject({ status: 409, body: { details: { state: 'disabled' } } });
    await scopes([{ name: 'hush', environmentKey: 'TOOL_SECRET', enabled: true }]);
    const { body } = await discover(id);
    expect(body).toMatchObject({ state: 'ready', tools: [{ description: 'uses [REDACTED]' }] });
    expect(JSON.stringify(body)).not.toContain(secret);

    await scopes([{ name: 'hush', environmentKey: 'TOOL_SECRET_ABSENT', enabled: true }]);
    expect((await discover(id, { bypassCache: true })).body).toMatchObject({
      state: 'failed',
      error: { code: 'credential-missing', message: expect.stringContaining('TOOL_SECRET_ABSENT') },
    });
    const refused = await stack.call.send('PATCH', '/api/settings/features', {
      toolServers: { credentialScopes: [{ name: 'own', environmentKey: 'BOARD_ADMIN_KEY', enabled: true }] },
    });
    expect(refused.status).toBe(400);
  });

  it('gives a server no variable that its definition does not name', async () => {
    const { body } = await discover(await define({ transport: hostileProgram('secrets') }));
    expect(body.tools[0].description).toBe('uses undefined');
  });

  it('is refused for what cannot be started', async () => {
    const id = await define({ transport: programOf('memory'), enabled: false });
    expect(await discover(id)).toMatchObject({ status: 409, body: { code: 'TOOL_SERVER_DISABLED' } });
    expect(await discover('nowhere')).toMatchObject({ status: 404 });
    expect(await discover(id, { bypass: true })).toMatchObject({ status: 400 });
    const enabled = await define({ transport: programOf('memory') });
    expect(await discover(enabled, { hostId: 'nowhere' })).toMatchObject({ status: 400 });
  });

  it('is forgotten with its definition', async () => {
    const file = join(stack.dir, 'forgotten');
    // A machine under load starts a program slowly.
    const definition = { transport: hostileProgram('counts', file), startupTimeoutMs: 60_000 };
    const id = await define(definition);
    expect((await discover(id)).body).toMatchObject({ state: 'ready', cached: false });
    await stack.call.ok('DELETE', `/api/tool-servers/${id}`);
    await stack.call.ok('POST', '/api/tool-servers', { id, displayName: id, ...definition });
    expect((await discover(id)).body).toMatchObject({ state: 'ready', cached: false });
    expect(startsIn(file)).toHaveLength(2);
  });
});
