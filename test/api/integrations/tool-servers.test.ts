import { type ApiUnderTest, readKey, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
});
afterAll(() => board.close());

const stdio = { kind: 'stdio', command: '/usr/bin/server' };
const http = (fields: object = {}) => ({ kind: 'streamable-http', url: 'https://tools.example.org/mcp', ...fields });
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
    ['a pattern in the middle', { allowedTools: ['a*b'] }, 'allowedTools.0'],
    ['an unknown kind', { transport: { kind: 'sse', url: 'https://example.org' } }, 'transport.kind'],
  ])('are refused with %s', async (_case, fields, path) => {
    const { status, body } = await create(fields);
    expect(status).toBe(400);
    expect(pathsOf(body)).toContain(path);
  });
});
