import { toolServerWrite } from '../../../contracts/integrations/tool-server';
import { type ApiUnderTest, readKey, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
});
afterAll(() => board.close());

const stdio = { kind: 'stdio', command: '/usr/bin/server' };
const http = (fields: object = {}) => ({ kind: 'streamable-http', url: 'https://tools.example.org/mcp', ...fields });
const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
const create = (body: object) =>
  board.call('POST', '/api/tool-servers', { body: { displayName: 'Server', transport: stdio, ...body } });
const pathsOf = (body: { details: { issues: { path: string }[] } }) => body.details.issues.map(({ path }) => path);

describe('tool servers', () => {
  it('are created, read, replaced and deleted, under both paths', async () => {
    const made = await create({ id: 'files', displayName: '<i>Files</i>', requirement: 'optional' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        schemaVersion: 'tool-server-definition/v1',
        id: 'files',
        version: '1',
        displayName: 'Files',
        enabled: true,
        transport: { ...stdio, args: [], environmentKeys: [], credentialReferences: [] },
        requirement: 'optional',
        allowedTools: ['*'],
        approvalMode: 'listed',
        revision: 1,
      },
    });
    expect((await board.call('GET', '/api/v1/tool-servers/files', { key: readKey })).body).toEqual({
      ...made.body,
      health: { state: 'unknown', hosts: [] },
    });

    const replacement = { displayName: 'Files', transport: http(), deniedTools: ['write_*'] };
    const replaced = await board.call('PUT', '/api/tool-servers/files', { body: replacement });
    expect(replaced.body).toMatchObject({ ...replacement, requirement: 'required', revision: 2 });
    expect(replaced.body.digest).not.toBe(made.body.digest);
    expect((await create({ id: 'files' })).status).toBe(409);

    expect((await board.call('DELETE', '/api/tool-servers/files')).status).toBe(204);
    expect((await board.call('GET', '/api/tool-servers/files')).status).toBe(404);
  });

  it('have a digest of everything but revision and times', async () => {
    const { body: first } = await create({ id: 'digested' });
    const write = (displayName: string) =>
      board.call('PUT', '/api/tool-servers/digested', { body: { displayName, transport: stdio } });
    expect((await write('Another')).body.digest).not.toBe(first.digest);
    expect((await write('Server')).body).toMatchObject({ digest: first.digest, revision: 3 });
  });

  it.each([
    ['an unknown field', { secret: 'x' }, 'secret'],
    [
      'a value for a variable',
      { transport: { ...stdio, environmentKeys: ['KEY=value'] } },
      'transport.environmentKeys.0',
    ],
    [
      'a variable of the service',
      { transport: { ...stdio, environmentKeys: ['BOARD_ADMIN_KEY'] } },
      'transport.environmentKeys.0',
    ],
    [
      'a variable that loads code',
      { transport: { ...stdio, environmentKeys: ['LD_PRELOAD'] } },
      'transport.environmentKeys.0',
    ],
    ['a credential in the address', { transport: http({ url: 'https://user:key@example.org/' }) }, 'transport.url'],
    ['an address without TLS', { transport: http({ url: 'http://example.org/' }) }, 'transport.url'],
    ['another protocol', { transport: http({ url: 'file:///etc/passwd' }) }, 'transport.url'],
    [
      'a scope that is named twice',
      { transport: { ...stdio, credentialReferences: ['a', 'a'] } },
      'transport.credentialReferences',
    ],
    [
      'a scope that no header uses',
      { transport: http({ credentialReferences: ['a'] }) },
      'transport.credentialReferences.0',
    ],
    [
      'a header without a value',
      { transport: http({ headers: [{ name: 'X-Key' }] }) },
      'transport.headers.0.environmentKey',
    ],
    [
      'a header with a scope that is not named',
      { transport: http({ headers: [{ name: 'X-Key', credentialReference: 'a' }] }) },
      'transport.headers.0.credentialReference',
    ],
    [
      'a header of the protocol',
      { transport: http({ headers: [{ name: 'Host', environmentKey: 'A_HOST' }] }) },
      'transport.headers.0.name',
    ],
    ['a relative command', { transport: { ...stdio, command: './x' } }, 'transport.command'],
    ['a relative command below', { transport: { ...stdio, command: 'bin/x' } }, 'transport.command'],
    ['a relative command above', { transport: { ...stdio, command: '../x' } }, 'transport.command'],
    ['a pattern in the middle', { allowedTools: ['a*b'] }, 'allowedTools.0'],
    ['an unknown kind', { transport: { kind: 'sse', url: 'https://example.org' } }, 'transport.kind'],
  ])('are refused with %s', async (_case, fields, path) => {
    const { status, body } = await create(fields);
    expect(status).toBe(400);
    expect(pathsOf(body)).toContain(path);
  });

  it.each<[string, object, string]>([
    ['arguments', { transport: { ...stdio, args: ['--token', token] } }, 'transport.args.1'],
    ['the address', { transport: http({ url: `https://example.org/mcp?token=${token}` }) }, 'transport.url'],
    [
      'the prefix of a header',
      { transport: http({ headers: [{ name: 'Authorization', environmentKey: 'X', prefix: `Bearer ${token}` }] }) },
      'transport.headers.0.prefix',
    ],
    ['the name', { displayName: token }, 'displayName'],
  ])('are refused with a credential in %s, which is not repeated, and is not stored', async (_place, fields, path) => {
    const refused = { status: 400, body: { details: { issues: [{ path, code: 'credential' }] } } };
    const made = await create({ id: 'leaking', ...fields });
    expect(made).toMatchObject(refused);
    expect(JSON.stringify(made.body)).not.toContain(token);
    expect((await board.call('GET', '/api/tool-servers/leaking')).status).toBe(404);

    await create({ id: 'sealed' });
    const body = { displayName: 'Server', transport: stdio, ...fields };
    const replaced = await board.call('PUT', '/api/tool-servers/sealed', { body });
    expect(replaced).toMatchObject(refused);
    expect(JSON.stringify((await board.call('GET', '/api/tool-servers/sealed')).body)).not.toContain(token);
  });

  it('are not replaced with a relative command, and are shown with one of an earlier version', async () => {
    await create({ id: 'moved' });
    const body = { displayName: 'Server', transport: { ...stdio, command: 'bin/x' } };
    expect((await board.call('PUT', '/api/tool-servers/moved', { body })).status).toBe(400);

    const fields = toolServerWrite.parse(body);
    await board.api.context.toolServers.create('earlier', fields);
    const found = await board.call('GET', '/api/tool-servers/earlier');
    expect(found).toMatchObject({ status: 200, body: { transport: { command: 'bin/x' } } });
  });

  it('may name the variables and files that their credentials are in', async () => {
    const args = ['--token-file', '/etc/server/token', '--api-key', '$KEY'];
    const headers = [{ name: 'Authorization', environmentKey: 'SERVER_TOKEN', prefix: 'Bearer ' }];
    expect((await create({ transport: { ...stdio, args, environmentKeys: ['SERVER_TOKEN'] } })).status).toBe(201);
    expect((await create({ transport: http({ headers }) })).status).toBe(201);
  });
});
