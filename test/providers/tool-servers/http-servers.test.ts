import { openToolServer } from '../../../providers/tool-servers/open-tool-server';
import type { ToolServerConnection, ToolServerEnvironment } from '../../../providers/tool-servers/tool-server';
import { aToolServer } from '../../support/factories/tool-server';
import { anEnvironment } from '../../support/tool-servers/environment';
import { type HttpManner, type HttpToolServer, startHttpToolServer } from '../../support/tool-servers/http-server';

const { signal } = new AbortController();
const secret = 'hush-hush-0042';
let server: HttpToolServer | undefined;
let opened: ToolServerConnection | undefined;

const transportTo = (url: string, fields: object = {}) => ({ kind: 'streamable-http', url, ...fields });

async function start(manner: HttpManner, fields: object = {}, own: Partial<ToolServerEnvironment> = {}) {
  server = await startHttpToolServer(manner);
  const transport = transportTo(server.url, fields);
  opened = await openToolServer(
    aToolServer({ id: 'remote', displayName: 'Remote', transport, startupTimeoutMs: 3_000 }),
    anEnvironment({ TOOL_TOKEN: secret, TOOL_OTHER: 'other-4242' }, own),
  );
  return opened;
}

afterEach(async () => {
  await opened?.close();
  await server?.close();
  opened = undefined;
  server = undefined;
});

describe('tool servers over HTTP', () => {
  it.each(['events', 'json'] as const)('are listed, called and left when they respond with %s', async (manner) => {
    const connection = await start(manner);
    expect(connection.server).toEqual({ name: 'http-server', version: '2' });
    await expect(connection.listTools(signal)).resolves.toMatchObject({ tools: [{ name: 'echo' }] });
    const call = { name: 'echo', arguments: { message: 'hello' }, signal, timeoutMs: 20_000 };
    await expect(connection.callTool(call)).resolves.toMatchObject({ content: [{ text: 'Echo: hello' }] });
    await connection.close();
    expect(server?.ended).toEqual(['session-0']);
  });

  it('receive headers with the values of variables and of credential scopes', async () => {
    const headers = [
      { name: 'Authorization', credentialReference: 'token', prefix: 'Bearer ' },
      { name: 'X-Other', environmentKey: 'TOOL_OTHER' },
    ];
    const credentialVariables = () => Promise.resolve(new Map([['token', 'TOOL_TOKEN']]));
    await start('json', { headers, credentialReferences: ['token'] }, { credentialVariables });
    expect(server?.requests.length).toBeGreaterThan(1);
    for (const request of server?.requests ?? []) {
      expect(request).toMatchObject({ authorization: `Bearer ${secret}`, 'x-other': 'other-4242' });
    }
  });

  it('are not called without the credential that they need', async () => {
    const headers = [{ name: 'X-Key', environmentKey: 'TOOL_ABSENT' }];
    await expect(start('json', { headers })).rejects.toMatchObject({
      code: 'credential-missing',
      message: expect.stringContaining('TOOL_ABSENT') as string,
    });
    const referring = { headers: [{ name: 'X-Key', credentialReference: 'token' }], credentialReferences: ['token'] };
    await server?.close();
    await expect(start('json', referring)).rejects.toMatchObject({ code: 'credential-missing' });
    expect(server?.requests).toEqual([]);
  });

  it.each([
    ['redirects', 'unavailable', 'not followed'],
    ['silent', 'start-timeout', 'did not respond to initialize'],
    ['flood', 'start-timeout', 'did not respond to initialize'],
    ['page', 'unavailable', 'content type'],
    ['deep', 'protocol-error', 'nested more than 64 levels'],
    ['status-999', 'unavailable', 'no status of HTTP'],
  ] as const)('that %s are given up', async (manner, code, message) => {
    await expect(start(manner)).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
  });

  it('are not called at private addresses and without TLS unless that is allowed', async () => {
    await expect(start('json', {}, { allowPrivate: false })).rejects.toMatchObject({ code: 'refused-address' });
    const transport = transportTo((server?.url ?? '').replace('http:', 'https:'));
    const environment = anEnvironment({}, { allowPrivate: false });
    await expect(openToolServer(aToolServer({ transport }), environment)).rejects.toMatchObject({
      code: 'refused-address',
      message: expect.stringContaining('127.0.0.1') as string,
    });
    expect(server?.requests).toEqual([]);
  });

  it('end with their session', async () => {
    const connection = await start('json');
    await server?.close();
    await expect(connection.listTools(signal)).rejects.toMatchObject({ code: 'unavailable' });
    expect(connection.ended.aborted).toBe(true);
  });
});
