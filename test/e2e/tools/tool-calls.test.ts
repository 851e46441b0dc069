import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { ledgerProgram, programOf } from '../../support/factories/tool-server';
import { aRepository } from '../../support/git/repository';
import { endToolRun, startToolRun, type ToolRun, toolUser } from '../../support/runs/tool-run';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let ledger: string;
let run: ToolRun;
let operations = 0;

beforeAll(async () => {
  stack = await startStack();
  ledger = join(stack.dir, 'ledger');
  const { call } = stack;
  await call.addRepository('sample', await aRepository(stack.dir));
  const server = (id: string, transport: object, fields: object = {}) =>
    call.ok('POST', '/api/tool-servers', { id, displayName: id, transport, ...fields });
  await server('ledger', ledgerProgram(ledger), {
    deniedTools: ['forbidden'],
    approvalRequiredTools: ['careful'],
  });
  await server('everything', programOf('everything'));
  await server('memory', programOf('memory'));
  await server('absent', { kind: 'stdio', command: '/nowhere/server' }, { requirement: 'optional' });
  await server('missing', { kind: 'stdio', command: '/nowhere/server' });
  const copy = join(stack.dir, 'bridge.json');
  await call.configureAgents([
    { ...toolUser(copy), toolServers: ['ledger', 'everything', 'memory', 'absent'] },
    { ...toolUser(copy), type: 'lacking', toolServers: ['missing'] },
    { ...toolUser(copy), type: 'lost', toolServers: ['nowhere'] },
    { ...toolUser(join(stack.dir, 'none.json')), type: 'without' },
  ]);
  run = await startToolRun(call, 'tool-user', copy);
});
afterAll(() => stack.close());

const written = (): string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);
const newOperation = (): string => `operation-${(operations += 1)}`;
const request = (fields: object = {}) => ({
  taskId: run.taskId,
  attemptId: run.attemptId,
  catalogDigest: run.catalogDigest,
  operationId: newOperation(),
  serverId: 'ledger',
  tool: 'append',
  arguments: { line: 'one' },
  ...fields,
});
const callTool = (fields: object = {}) => stack.call.post('/api/tool-servers/call', request(fields));

describe('the tool catalog of an attempt', () => {
  it('has the servers of its agent with their tools, and degrades optional ones', async () => {
    const path = `/api/tool-servers/runs/${run.taskId}/${run.attemptId}/catalog`;
    const catalog = await stack.call.ok('GET', path);
    expect(catalog).toMatchObject({ schemaVersion: 'run-tool-catalog/v1', digest: run.catalogDigest });
    const [first, second, third, absent] = catalog.servers;
    expect([first.serverId, second.serverId, third.serverId]).toEqual(['ledger', 'everything', 'memory']);
    expect(first.tools.map(({ name, policy }: { name: string; policy: string }) => [name, policy])).toEqual([
      ['append', 'allowed'],
      ['careful', 'approval-required'],
      ['fail', 'allowed'],
      ['forbidden', 'denied'],
      ['hold', 'allowed'],
    ]);
    expect(second.tools.length).toBeGreaterThan(3);
    expect(absent).toMatchObject({ state: 'degraded', reason: { code: 'program-missing' }, tools: [] });
    const status = await stack.call.status(run.taskId);
    expect(status.runLaunchManifest.tools.catalog).toMatchObject({ digest: run.catalogDigest });
    expect(run.bridge.sections.find(({ id }) => id === 'tool-servers')?.text).toContain(
      '- ledger: append, careful (needs an approval), fail',
    );
  });

  it('is that of the preview of the launch', async () => {
    const task = await stack.call.createTask({ title: 'x', agent: 'tool-user', git: { repo: 'sample' } });
    const { manifest } = await stack.call.ok('POST', `/api/agents/${task.id}/launch-preview`, {});
    expect(manifest.tools.catalog.digest).toBe(run.catalogDigest);
  });

  it('is of another task for no one, and absent for a launch without tools', async () => {
    const task = await stack.call.createTask({ title: 'x', agent: 'without', git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(task.id);
    const of = (taskId: string, attempt: string) =>
      stack.call.get(`/api/tool-servers/runs/${taskId}/${attempt}/catalog`);
    expect((await of(task.id, attemptId)).status).toBe(404);
    expect((await of(task.id, run.attemptId)).status).toBe(404);
    await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
  });

  it.each([
    ['lacking', 'missing', 'program-missing'],
    ['lost', 'nowhere', 'unknown'],
  ])('that cannot be compiled refuses the launch of %s', async (agent, serverId, reason) => {
    const task = await stack.call.createTask({ title: 'x', agent, git: { repo: 'sample' } });
    for (const operation of ['launch-preview', 'start']) {
      expect(await stack.call.post(`/api/agents/${task.id}/${operation}`)).toMatchObject({
        status: 409,
        body: { code: 'TOOL_SERVER_UNAVAILABLE', details: { serverId, reason, remediation: expect.any(String) } },
      });
    }
  });
});

describe('a call of a tool', () => {
  it('is made once, and answered the same when it is repeated', async () => {
    const body = request({ arguments: { line: 'once' } });
    const first = await stack.call.post('/api/tool-servers/call', body);
    expect(first).toMatchObject({
      status: 200,
      body: {
        schemaVersion: 'tool-call/v1',
        state: 'completed',
        replayed: false,
        result: { content: [{ type: 'text', text: 'wrote once' }], isError: false, truncated: false },
      },
    });
    expect((await stack.call.post('/api/tool-servers/call', body)).body).toEqual({ ...first.body, replayed: true });
    expect(await stack.call.post('/api/tool-servers/call', { ...body, arguments: { line: 'two' } })).toMatchObject({
      status: 409,
      body: { code: 'TOOL_OPERATION_REUSED' },
    });
    expect(written().filter((line) => line === 'append once')).toHaveLength(1);
  });

  it('that is requested several times at once is one', async () => {
    const body = request({ arguments: { line: 'together' } });
    const answers = await Promise.all([1, 2, 3].map(() => stack.call.post('/api/tool-servers/call', body)));
    expect(answers.map(({ body: { state } }) => state)).toEqual(['completed', 'completed', 'completed']);
    expect(written().filter((line) => line === 'append together')).toHaveLength(1);
  });

  it('reaches real servers, and reports failures of tools as results', async () => {
    const echo = { serverId: 'everything', tool: 'echo', arguments: { message: 'hello' } };
    const answer = await callTool(echo);
    expect(answer).toMatchObject({ status: 200, body: { state: 'completed' } });
    expect(JSON.stringify(answer.body.result.content)).toContain('hello');
    const graph = await callTool({ serverId: 'memory', tool: 'read_graph', arguments: {} });
    expect(graph.body).toMatchObject({ state: 'completed', result: { isError: false } });
    expect((await callTool({ tool: 'fail' })).body).toMatchObject({ state: 'completed', result: { isError: true } });
  });

  it('is in the journal of its run, and in the audit log', async () => {
    const { body } = await callTool({ arguments: { line: 'journal' } });
    const events = await stack.call.events(run.taskId, run.attemptId);
    const mine = events.filter(({ payload }) => payload.callId === body.id);
    expect(mine.map(({ kind, payload }) => [kind, payload.state])).toEqual([
      ['tool.started', undefined],
      ['tool.completed', 'completed'],
    ]);
    expect(JSON.stringify(mine)).not.toContain('journal"');
    const { entries } = await stack.call.ok('GET', '/api/audit?action=tool.call&limit=100');
    expect(JSON.stringify(entries)).toContain(body.id);
  });

  it.each([
    ['another catalog', { catalogDigest: `sha256:${'0'.repeat(64)}` }, 409, 'TOOL_CATALOG_MISMATCH'],
    ['an unknown tool', { tool: 'other' }, 404, 'NOT_FOUND'],
    ['an unknown server', { serverId: 'other' }, 404, 'NOT_FOUND'],
    ['a degraded server', { serverId: 'absent' }, 409, 'TOOL_SERVER_DEGRADED'],
    ['a denied tool', { tool: 'forbidden' }, 403, 'TOOL_DENIED'],
    ['other arguments', { arguments: { line: 1 } }, 400, 'VALIDATION_ERROR'],
    ['no argument', { arguments: {} }, 400, 'VALIDATION_ERROR'],
    ['an attempt that there is not', { attemptId: 'attempt_unknown000' }, 404, 'NOT_FOUND'],
    ['another task', { taskId: 'task_20260101_other' }, 404, 'NOT_FOUND'],
    ['a short operation id', { operationId: 'x' }, 400, 'VALIDATION_ERROR'],
  ])('with %s is refused before anything is sent', async (_case, fields, status, code) => {
    const before = written();
    expect(await callTool(fields)).toMatchObject({ status, body: { code } });
    expect(written()).toEqual(before);
  });

  it('names the argument that its schema refuses', async () => {
    const { body } = await callTool({ arguments: { line: 'x'.repeat(51) } });
    expect(body.details.issues).toEqual([{ path: 'arguments.line', message: expect.stringContaining('50') }]);
  });

  it('that a policy or a tool policy forbids is refused before it is sent', async () => {
    const rules = [{ action: 'ledger/append', effect: 'deny' }];
    const { id } = await stack.call.ok('POST', '/api/policies', { name: 'No ledger', rules });
    const before = written();
    expect(await callTool()).toMatchObject({
      status: 403,
      body: { code: 'TOOL_FORBIDDEN', details: { rule: 'policy' } },
    });
    expect(written()).toEqual(before);
    await stack.call.ok('DELETE', `/api/policies/${id}`);
    expect((await callTool()).status).toBe(200);
  });

  it('that needs an approval waits for exactly that, and each approval lets one call through', async () => {
    const fields = { tool: 'careful', arguments: { line: 'approved' } };
    const body = request(fields);
    const refused = await stack.call.post('/api/tool-servers/call', body);
    expect(refused).toMatchObject({ status: 409, body: { code: 'TOOL_APPROVAL_REQUIRED' } });
    const { approvalId, approval } = refused.body.details;
    expect((await callTool(fields)).body.details.approvalId).toBe(approvalId);
    expect((await callTool({ ...fields, arguments: { line: 'other' } })).body.details.approvalId).not.toBe(approvalId);
    await stack.call.ok('POST', `/api/run-approvals/${approvalId}/decision`, {
      decision: 'approved',
      expectedRevision: approval.revision,
      expectedActionHash: approval.actionHash,
    });
    const answer = await stack.call.post('/api/tool-servers/call', body);
    expect(answer.body).toMatchObject({ state: 'completed', approvalId });
    expect((await stack.call.post('/api/tool-servers/call', body)).body).toMatchObject({ replayed: true, approvalId });
    expect((await callTool(fields)).body).toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' });
    expect(written().filter((line) => line === 'careful approved')).toHaveLength(1);
  });

  it('that was rejected is not made', async () => {
    const body = request({ tool: 'careful', arguments: { line: 'rejected' } });
    const { approvalId, approval } = (await stack.call.post('/api/tool-servers/call', body)).body.details;
    await stack.call.ok('POST', `/api/run-approvals/${approvalId}/decision`, {
      decision: 'rejected',
      expectedRevision: approval.revision,
      expectedActionHash: approval.actionHash,
      note: 'not today',
    });
    const answer = await stack.call.post('/api/tool-servers/call', body);
    expect(answer).toMatchObject({ status: 403, body: { code: 'TOOL_CALL_REJECTED' } });
    expect(answer.body.error).toContain('not today');
    expect(written()).not.toContain('careful rejected');
  });

  it('is refused once the definition of its server has changed', async () => {
    const path = '/api/tool-servers/memory';
    const changed = { displayName: 'memory', transport: programOf('memory'), deniedTools: ['*'] };
    await stack.call.ok('PUT', path, changed);
    expect(await callTool({ serverId: 'memory', tool: 'read_graph', arguments: {} })).toMatchObject({
      status: 409,
      body: { code: 'TOOL_DEFINITION_CHANGED' },
    });
  });

  it('is refused once its run has ended, and its servers have ended with it', async () => {
    const pid = Number(readFileSync(`${ledger}.pid`, 'utf8'));
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await endToolRun(stack.call, run);
    expect(await callTool()).toMatchObject({ status: 409, body: { code: 'RUN_ENDED' } });
    await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
  });
});
