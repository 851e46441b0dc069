import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eventually } from '../../../platform/testing/eventually';
import { Caller } from '../../support/caller';
import { ledgerProgram } from '../../support/factories/tool-server';
import { aRepository } from '../../support/git/repository';
import { startToolRun, type ToolRun, toolUser } from '../../support/runs/tool-run';
import { type Stack, startStack } from '../../support/stack/stack';

const adminKey = 'admin-key-of-this-test-0123456789abcdef';

let stack: Stack;
let admin: Caller;
let run: ToolRun;
let ledger: string;
let copy: string;
const clients: Client[] = [];

beforeAll(async () => {
  stack = await startStack({ BOARD_AUTH_ENABLED: 'true', BOARD_ADMIN_KEY: adminKey });
  admin = new Caller(stack.url, { 'X-API-Key': adminKey });
  ledger = join(stack.dir, 'ledger');
  copy = join(stack.dir, 'bridge.json');
  await admin.addRepository('sample', await aRepository(stack.dir));
  await admin.ok('POST', '/api/tool-servers', {
    id: 'ledger',
    displayName: 'Ledger',
    transport: ledgerProgram(ledger),
    deniedTools: ['forbidden'],
    approvalRequiredTools: ['careful'],
  });
  await admin.configureAgents([{ ...toolUser(copy), toolServers: ['ledger'] }]);
  run = await startToolRun(admin, 'tool-user', copy);
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await stack.close();
});

const written = (): string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);
const bearer = (handle: string) => ({ Authorization: `Bearer ${handle}` });
const as = (handle: string) => new Caller(stack.url, bearer(handle));
const line = (value: string) => ({ serverId: 'ledger', tool: 'append', arguments: { line: value } });
const textOf = (result: object): string => JSON.stringify((result as { content: unknown }).content);

async function connected({ bridge }: ToolRun): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' });
  clients.push(client);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(bridge.mcpUrl), { requestInit: { headers: bearer(bridge.handle) } }),
  );
  return client;
}

async function approvePending(): Promise<string> {
  const [pending] = await eventually(async () => {
    const { approvals } = {
      approvals: await admin.ok('GET', `/api/run-approvals?status=pending&attemptId=${run.attemptId}`),
    };
    const found = (Array.isArray(approvals) ? approvals : approvals.approvals) as {
      id: string;
      revision: number;
      actionHash: string;
    }[];
    expect(found).toHaveLength(1);
    return found;
  });
  await admin.ok('POST', `/api/run-approvals/${pending?.id}/decision`, {
    decision: 'approved',
    expectedRevision: pending?.revision,
    expectedActionHash: pending?.actionHash,
  });
  return pending?.id ?? '';
}

describe('the handle of a tool bridge', () => {
  it('is given to the agent in a file of its own, and is nowhere else', async () => {
    const { bridge, taskId, attemptId } = run;
    expect(bridge).toMatchObject({ schemaVersion: 'tool-bridge/v1', taskId, attemptId, mode: '600' });
    expect(bridge).toMatchObject({ inEnvironment: false, inTask: false });
    const published = await eventually(async () => {
      const events = JSON.stringify(await admin.events(taskId, attemptId));
      expect(events).toContain('my handle is [REDACTED]');
      return events + JSON.stringify(await admin.status(taskId));
    });
    expect(published).not.toContain(bridge.handle);
    const history = JSON.stringify(await stack.temporal.workflow.getHandle(`run/${attemptId}`).fetchHistory());
    expect(history).not.toContain(bridge.handle);
  });

  it('is reached from the document of the task, which has the addresses and the path of its file', async () => {
    const { bridge, taskId, attemptId } = run;
    const { mcpUrl, callUrl, catalogUrl, catalogDigest } = bridge;
    expect(bridge.toolBridge).toEqual({ mcpUrl, callUrl, catalogUrl, catalogDigest, handleFile: bridge.path });
    const recorded = JSON.stringify([
      await admin.status(taskId),
      await admin.events(taskId, attemptId),
      await stack.temporal.workflow.getHandle(`run/${attemptId}`).fetchHistory(),
    ]);
    expect(recorded).not.toContain('handleFile');
    expect(recorded).not.toContain(bridge.mcpUrl);
    const { BOARD_DATA_DIR: data } = stack.env;
    const files = readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(data, 'envelopes')))
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(files.length).toBeGreaterThan(2);
    for (const secret of [bridge.handle, 'handleFile']) {
      expect(files.filter((path) => readFileSync(path).includes(secret))).toEqual([]);
    }
  });

  it('opens the catalog and the tools of its attempt', async () => {
    const agent = as(run.bridge.handle);
    expect((await agent.ok('GET', '/api/run-tool-bridge/catalog')).digest).toBe(run.catalogDigest);
    const body = { ...line('by handle'), operationId: 'operation-of-agent' };
    const first = await agent.ok('POST', '/api/run-tool-bridge/call', body);
    expect(first).toMatchObject({ state: 'completed', requestedBy: `agent:${run.attemptId}` });
    expect(await agent.ok('POST', '/api/run-tool-bridge/call', body)).toEqual({ ...first, replayed: true });
    expect(await agent.post('/api/run-tool-bridge/call', { ...body, attemptId: run.attemptId })).toMatchObject({
      status: 400,
    });
    expect(written().filter((each) => each === 'append by handle')).toHaveLength(1);
  });

  it('opens nothing else', async () => {
    const agent = as(run.bridge.handle);
    const asChild = new Caller(stack.url, { 'X-Board-Attempt-Handle': run.bridge.handle });
    expect((await agent.get('/api/tasks')).status).toBe(401);
    expect((await agent.post('/api/tool-servers/call', {})).status).toBe(401);
    expect((await asChild.post('/api/run-children', {})).status).toBe(401);
    expect((await admin.get('/api/run-tool-bridge/catalog')).status).toBe(401);
    expect(
      (await new Caller(stack.url, { Cookie: `handle=${run.bridge.handle}` }).get('/api/run-tool-bridge/catalog'))
        .status,
    ).toBe(401);
  });

  it('that is guessed, changed, or of another attempt opens nothing', async () => {
    const { handle } = run.bridge;
    const other = await startToolRun(admin, 'tool-user', copy);
    const guesses = [
      `${handle.slice(0, -4)}AAAA`,
      handle.replace(run.attemptId, other.attemptId),
      handle.replace('rbtb_', 'rbah_'),
      'nothing',
      'rbtb_',
    ];
    for (const guess of guesses) {
      expect((await as(guess).get('/api/run-tool-bridge/catalog')).status).toBe(401);
      expect(
        (await as(guess).post('/api/run-tool-bridge/call', { ...line('x'), operationId: 'guessed-1' })).status,
      ).toBe(401);
    }
    await admin.ok('POST', `/api/agents/${other.taskId}/stop`, { attemptId: other.attemptId });
    expect((await as(other.bridge.handle).get('/api/run-tool-bridge/catalog')).status).toBe(401);
    expect(written()).not.toContain('append x');
  });
});

describe('the tool bridge as a server of the Model Context Protocol', () => {
  it('lists the tools that may be called, and calls them', async () => {
    const client = await connected(run);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'ledger__append',
      'ledger__careful',
      'ledger__fail',
      'ledger__hold',
      'runboard_wait',
    ]);
    const result = await client.callTool({ name: 'ledger__append', arguments: { line: 'by protocol' } });
    expect(result).toMatchObject({ isError: false, content: [{ type: 'text', text: 'wrote by protocol' }] });
    expect(await client.callTool({ name: 'ledger__fail', arguments: { line: 'a' } })).toMatchObject({ isError: true });
  });

  it('reports what the board refuses as results that agents read', async () => {
    const client = await connected(run);
    const refused = await client.callTool({ name: 'ledger__append', arguments: { line: 1 } });
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toContain('arguments.line');
    expect(textOf(await client.callTool({ name: 'ledger__forbidden', arguments: { line: 'a' } }))).toContain(
      'TOOL_DENIED',
    );
    expect(textOf(await client.callTool({ name: 'nothing', arguments: {} }))).toContain('No tool of this run');
    expect(written()).not.toContain('forbidden a');
  });

  it('waits for a person where a tool needs an approval', async () => {
    const client = await connected(run);
    const calling = client.callTool({ name: 'ledger__careful', arguments: { line: 'with a person' } });
    await approvePending();
    expect(await calling).toMatchObject({ isError: false });
    expect(written().filter((each) => each === 'careful with a person')).toHaveLength(1);
  });

  it('calls nothing that the rules forbid by the time it is approved', async () => {
    const client = await connected(run);
    const calling = client.callTool({ name: 'ledger__careful', arguments: { line: 'too late' } });
    await eventually(async () => {
      expect(await admin.ok('GET', `/api/run-approvals?status=pending&attemptId=${run.attemptId}`)).toHaveLength(1);
    });
    const rules = [{ action: 'ledger/careful', effect: 'deny' }];
    const { id } = await admin.ok('POST', '/api/policies', { name: 'Nothing careful', rules });
    await approvePending();
    expect(textOf(await calling)).toContain('TOOL_FORBIDDEN');
    expect(written()).not.toContain('careful too late');
    await admin.ok('DELETE', `/api/policies/${id}`);
  });

  it('answers a request that is sent again as the same call, and of another session as another one', async () => {
    const send = async (session: string | undefined, id: number | string) => {
      const headers = { ...bearer(run.bridge.handle), ...(session === undefined ? {} : { 'Mcp-Session-Id': session }) };
      const params = { name: 'ledger__append', arguments: { line: 'again' } };
      return new Caller(stack.url, headers).post('/api/run-tool-bridge/mcp', {
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params,
      });
    };
    const times = () => written().filter((each) => each === 'append again').length;
    const first = await send('session-one-0000000', 1);
    expect((await send('session-one-0000000', 1)).body).toEqual(first.body);
    expect(times()).toBe(1);
    await send('session-two-0000000', 1);
    expect(times()).toBe(2);
    expect((await send(undefined, 1)).status).toBe(400);
    const long = 'x'.repeat(400);
    for (const id of [`${long}1`, `${long}1`, `${long}2`]) {
      expect((await send('session-two-0000000', id)).body).toMatchObject({ id, result: { isError: false } });
    }
    expect(times()).toBe(4);
  });

  it.each([
    ['no JSON', '{'],
    ['no message', '{"a":1}'],
    ['a batch', '[]'],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"a":1}}}'],
  ])('refuses %s', async (_case, body) => {
    const { status } = await as(run.bridge.handle).send('POST', '/api/run-tool-bridge/mcp', body, {
      'content-type': 'application/json',
    });
    expect(status).toBe(400);
  });

  it('takes a notification without a response, and has no stream of its own', async () => {
    const agent = as(run.bridge.handle);
    const notified = await agent.post('/api/run-tool-bridge/mcp', {
      jsonrpc: '2.0',
      method: 'notifications/initialized',
    });
    expect([notified.status, notified.body]).toEqual([202, undefined]);
    expect((await agent.get('/api/run-tool-bridge/mcp')).status).toBe(405);
  });
});

it('the handle counts no more once its attempt has ended, and its file is gone', async () => {
  await admin.ok('POST', `/api/agents/${run.taskId}/message`, {
    attemptId: run.attemptId,
    message: 'end',
    actor: 'ann',
  });
  await admin.ended(run.taskId);
  expect((await as(run.bridge.handle).get('/api/run-tool-bridge/catalog')).status).toBe(401);
  expect((await as(run.bridge.handle).post('/api/run-tool-bridge/mcp', {})).status).toBe(401);
  await eventually(() => expect(existsSync(run.bridge.path)).toBe(false));
});
