import { ToolClient } from '../../support/mcp-client';
import { adminKey, agentKey, type ApiUnderTest, readKey, startWholeTestApi } from '../api-under-test';
import { aPerson } from '../identity/people';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
});
afterAll(() => board.close());

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const accept = { Accept: 'application/json, text/event-stream' };
const send = (body: unknown, headers: Record<string, string> = {}, key: string | null = adminKey) =>
  board.call('POST', '/mcp', { body, key, headers: { ...accept, ...headers } });
const withTools = async <T>(headers: Record<string, string>, use: (tools: ToolClient) => Promise<T>): Promise<T> => {
  const tools = await ToolClient.overHttp(board.url, headers);
  try {
    return await use(tools);
  } finally {
    await tools.close();
  }
};

describe('the board as a tool server', () => {
  it('refuses callers without a key, and names no session', async () => {
    expect((await send(initialize, {}, null)).status).toBe(401);
    expect((await send(initialize, {}, 'a-wrong-key-of-0123456789abcdefghijk')).status).toBe(401);
    const answer = await send(initialize);
    expect(answer).toMatchObject({ status: 200, body: { id: 1, result: { serverInfo: { name: 'runboard' } } } });
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  it('lets each caller do what its role permits, and records who did it', async () => {
    await withTools({ 'X-API-Key': readKey }, async (tools) => {
      expect(await tools.ok('list_tasks')).toMatchObject({ tasks: [] });
      expect(await tools.result('create_task', { title: 'No' })).toMatchObject({
        ...{ isError: true, text: expect.stringMatching(/^WRITE_FORBIDDEN: /) },
      });
    });
    const { id } = await withTools({ Authorization: `Bearer ${agentKey}` }, (tools) =>
      tools.ok('create_task', { title: 'Of an agent' }),
    );
    const { body } = await board.call('GET', '/api/activity?limit=5');
    const made = (body.activities ?? body).find(({ taskId }: { taskId: string }) => taskId === id);
    expect(JSON.stringify(made)).toMatch(/agent/);
  });

  it('takes no key, condition or range of the message for one of each request that it makes', async () => {
    const headers = {
      'X-API-Key': adminKey,
      'X-Idempotency-Key': 'of-the-message',
      'X-Resource-Revision': '99',
      'If-Match': '"another"',
      'If-None-Match': '*',
      Range: 'bytes=0-1',
    };
    await withTools(headers, async (tools) => {
      const first = await tools.ok('create_task', { title: 'First' });
      const second = await tools.ok('create_task', { title: 'Second', idempotencyKey: 'of-the-second' });
      expect([first.title, second.title]).toEqual(['First', 'Second']);
      expect(await tools.ok('update_task', { taskId: first.id, expectedRevision: 1, title: 'Changed' })).toMatchObject({
        title: 'Changed',
      });
      expect(await tools.ok('get_task', { taskId: first.id })).toMatchObject({ title: 'Changed' });
    });
  });

  it('takes a caller that is elsewhere for one that is elsewhere', async () => {
    const { id: taskId } = await board.createTask();
    const { key } = await aPerson(board, 'admin');
    const start = (headers: Record<string, string>) =>
      withTools({ 'X-API-Key': key, ...headers }, (tools) => tools.result('start_run', { taskId, agent: 'none' }));
    const here = await start({});
    expect(here.text).not.toMatch(/^FORBIDDEN/);
    expect(await start({ Via: '1.1 proxy' })).toMatchObject({
      ...{ isError: true, text: expect.stringMatching(/^FORBIDDEN: From elsewhere/) },
    });
  });

  it('refuses pages of other sites, whose browser would send what a person is signed in with', async () => {
    expect((await send(initialize, { Origin: 'https://evil.example' })).status).toBe(403);
  });

  it('refuses what is no message, and methods that a server without state has not', async () => {
    expect((await send({ jsonrpc: '2.0' })).status).toBe(400);
    expect((await send([])).status).toBe(400);
    const deep = `${'['.repeat(2_000)}${']'.repeat(2_000)}`;
    const raw = (body: string, type = 'application/json') =>
      fetch(`${board.url}/mcp`, {
        ...{ method: 'POST', body },
        headers: { ...accept, 'X-API-Key': adminKey, 'Content-Type': type },
      });
    expect((await raw(deep)).status).toBe(400);
    expect((await raw('{')).status).toBe(400);
    expect((await raw(JSON.stringify(initialize), 'text/plain')).status).toBe(415);
    expect((await send(initialize, { Accept: 'application/json' })).status).toBe(406);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await send(list, { 'MCP-Protocol-Version': 'never' })).status).toBe(400);
    expect((await board.call('GET', '/mcp', { headers: accept })).status).toBe(405);
    expect((await board.call('DELETE', '/mcp')).status).toBe(405);
    expect((await board.call('POST', '/mcp?tools=some', { body: initialize })).status).toBe(400);
  });

  it('answers a notification with nothing', async () => {
    const answer = await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([answer.status, answer.body]).toEqual([202, '']);
  });
});
