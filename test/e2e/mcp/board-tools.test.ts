import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { anApprovalRequest } from '../../support/factories/approval';
import { aRepository } from '../../support/git/repository';
import { ToolClient } from '../../support/mcp-client';
import { mongoSettings } from '../../support/mongo-settings';
import { aRequester, aWaitingRun, type Requester } from '../../support/runs/approvals';
import { type Stack, startStack } from '../../support/stack/stack';

const root = resolve(__dirname, '../../..');

let stack: Stack;
let requester: Requester;
beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('as-told'),
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    {
      ...{ type: 'board-user', name: 'Works by the board', provider: 'acp', command: process.execPath },
      args: [join(root, 'test/support/tool-servers/board-user.mjs'), join(stack.dir, 'picked'), 'hive'],
      mcpServers: [{ type: 'http', name: 'board', url: `${stack.url}/mcp` }],
    },
  ]);
  requester = await aRequester(stack.temporal, {
    dataDir: stack.env.BOARD_DATA_DIR,
    mongoUrl: mongoSettings().MONGODB_URL,
  });
});
afterAll(async () => {
  await requester.close();
  await stack.close();
});

const overStdio = (...options: string[]) =>
  ToolClient.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(root, 'dist/cli/main.js'), 'mcp', ...options],
      env: { XDG_CONFIG_HOME: stack.dir, RUNBOARD_URL: stack.url },
      stderr: 'inherit',
    }),
  );

describe.each([
  ['over HTTP', (): Promise<ToolClient> => ToolClient.overHttp(stack.url), '?tools=read-only'],
  ['over standard streams', (): Promise<ToolClient> => overStdio(), '--read-only'],
])('the tools of the board %s', (_title, connect, _readOnly) => {
  let tools: ToolClient;
  beforeAll(async () => {
    tools = await connect();
  });
  afterAll(() => tools.close());

  it('are described, and annotated by whether they read, change or end something', async () => {
    const { tools: described } = await tools.client.listTools();
    const hints = Object.fromEntries(described.map(({ name, annotations }) => [name, annotations]));
    expect(hints.list_tasks).toMatchObject({ title: 'List tasks', readOnlyHint: true, openWorldHint: false });
    expect(hints.update_task).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(hints.stop_run).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    for (const { name, description, inputSchema } of described) {
      expect([name, description]).toEqual([name, expect.stringMatching(/\.$/)]);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  it('create, list, read, change and comment on tasks', async () => {
    const key = { idempotencyKey: `create-${_title.length}-0001` };
    const fields = { title: 'Mend the door', priority: 'high', project: `house-${_title.length}`, repo: 'sample' };
    const { id, revision } = await tools.ok('create_task', { ...fields, ...key });
    expect(await tools.ok('create_task', { ...fields, ...key })).toMatchObject({ id });
    const listed = await tools.ok('list_tasks', { project: fields.project, status: ['todo', 'blocked'] });
    expect(listed).toMatchObject({ total: 1, page: 1, tasks: [{ id, title: 'Mend the door', priority: 'high' }] });
    const changed = await tools.ok('update_task', { taskId: id, expectedRevision: revision, status: 'in-progress' });
    expect(changed).toMatchObject({ status: 'in-progress', revision: revision + 1 });
    const stale = await tools.result('update_task', { taskId: id, expectedRevision: revision, title: 'Late' });
    expect(stale).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^[A-Z_]*(?:REVISION|CONFLICT)[A-Z_]*: /),
    });
    expect(await tools.ok('add_comment', { taskId: id, text: 'Half way' })).toEqual({ taskId: id, comments: 1 });
    expect(await tools.ok('get_task', { taskId: id })).toMatchObject({
      ...{ title: 'Mend the door', repo: 'sample', comments: [{ text: 'Half way' }] },
    });
  });

  it('record the work on a task', async () => {
    const { id: taskId } = await tools.ok('create_task', { title: 'Work' });
    await tools.ok('add_observation', { taskId, type: 'decision', content: 'Use oak', score: 7 });
    await tools.ok('report_progress', { taskId, section: 'Done', content: 'Hinges' });
    await tools.ok('save_checkpoint', { taskId, step: 3, state: { next: 'lock' } });
    expect(await tools.ok('get_progress', { taskId })).toMatchObject({ content: expect.stringContaining('Hinges') });
    expect(await tools.ok('get_checkpoint', { taskId })).toMatchObject({
      checkpoint: { step: 3, state: { next: 'lock' } },
    });
    expect(await tools.ok('get_task_context', { taskId })).toMatchObject({ observations: [{ content: 'Use oak' }] });
  });

  it('start a run, follow it, read what it changed, and accept it', async () => {
    const script = {
      files: { 'new.txt': 'one\n' },
      commit: 'Work',
      result: { status: 'success', summary: 'All done' },
    };
    const { id: taskId } = await tools.ok('create_task', {
      ...{ title: 'Work', repo: 'sample', description: JSON.stringify(script) },
    });
    const start = { taskId, agent: 'as-told', idempotencyKey: `start-${taskId}` };
    const { attemptId } = await tools.ok('start_run', start);
    expect((await tools.ok('start_run', start)).attemptId).toBe(attemptId);
    const run = await eventually(async () => {
      const read = await tools.ok('get_run', { taskId });
      expect(read.state).toBe('ended');
      return read;
    });
    expect(run).toMatchObject({ attemptId, agent: 'as-told', completion: { status: 'success', summary: 'All done' } });
    const page = await tools.ok('list_run_events', { taskId, attemptId, limit: 2 });
    expect(page).toMatchObject({ events: [{ sequence: 1 }, { sequence: 2 }], nextSequence: 2, hasMore: true });
    const diff = await tools.ok('get_run_diff', { taskId });
    expect(diff).toMatchObject({ totalFiles: 1, files: [{ path: 'new.txt', patch: '@@ -0,0 +1,1 @@\n+one' }] });
    const log = await tools.client.readResource({ uri: `runboard://tasks/${taskId}/runs/${attemptId}/log` });
    expect(log.contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringContaining('run.completed') }]);
    const stopped = await tools.result('stop_run', { taskId, attemptId });
    expect(stopped).toMatchObject({ isError: true, text: expect.stringMatching(/^[A-Z_]+: /) });
  });

  it('list what runs ask for, and decide exactly that', async () => {
    const pending = await requester.approvals.request(anApprovalRequest(await aWaitingRun(stack.call)));
    const { approvals } = await tools.ok('list_approvals');
    const asked = approvals.find(({ id }: { id: string }) => id === pending.id);
    expect(asked).toMatchObject({ action: pending.action, actionHash: pending.actionHash });
    const decision = { approvalId: pending.id, decision: 'approved', expectedRevision: asked.revision };
    const other = await tools.result('decide_approval', { ...decision, expectedActionHash: '0'.repeat(64) });
    expect(other.isError).toBe(true);
    expect(await tools.ok('decide_approval', { ...decision, expectedActionHash: asked.actionHash })).toMatchObject({
      status: 'approved',
    });
  });

  it('find tasks by words', async () => {
    const { id } = await tools.ok('create_task', { title: `Quokka ${_title}` });
    await eventually(async () => {
      const { results } = await tools.ok('search', { query: `quokka ${_title}`, limit: 5 });
      expect(results).toContainEqual(expect.objectContaining({ id, collection: 'tasks-active' }));
    });
  });

  it('refuse what their schemas do not allow, and what is not there', async () => {
    const { id: taskId } = await tools.ok('create_task', { title: 'Refused' });
    const bad = await tools.result('list_tasks', { status: ['gone'], limit: 51 });
    expect(bad).toMatchObject({ isError: true, text: expect.stringContaining('status') });
    expect(await tools.result('get_task', { taskId, secret: 'x' })).toMatchObject({ isError: true });
    expect(await tools.result('get_task', { taskId: 'task_000000000000' })).toMatchObject({
      ...{ isError: true, text: expect.stringContaining('NOT_FOUND: No task') },
    });
    expect(await tools.result('no_such_tool')).toMatchObject({ isError: true });
    await expect(tools.client.readResource({ uri: 'runboard://tasks/..%2f..' })).rejects.toThrow();
  });

  it('cut long texts, and refuse results that are too long for a model', async () => {
    const { id: taskId } = await tools.ok('create_task', { title: 'Long', description: 'x'.repeat(9_000) });
    expect((await tools.ok('get_task', { taskId })).description).toMatch(/^x{4000}… \(cut: 9000 characters\)$/);
    const resource = await tools.client.readResource({ uri: `runboard://tasks/${taskId}` });
    expect(JSON.parse((resource.contents[0] as { text: string }).text).description).toHaveLength(9_000);
  });
});

describe('the tools of the board for reading', () => {
  it.each([
    ['over HTTP', () => ToolClient.overHttp(stack.url, {}, '?tools=read-only')],
    ['over standard streams', () => overStdio('--read-only')],
  ])('are all that there are %s where that is asked for', async (_title, connect) => {
    const tools = await connect();
    try {
      const { tools: listed } = await tools.client.listTools();
      expect(listed.length).toBeGreaterThan(5);
      expect(listed.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
      expect(await tools.result('create_task', { title: 'x' })).toMatchObject({ isError: true });
    } finally {
      await tools.close();
    }
  });
});

describe('an agent with the tools of the board', () => {
  it('picks up the most urgent task that nothing blocks, and completes it', async () => {
    const { call } = stack;
    const inHive = (fields: object) => call.createTask({ project: 'hive', ...fields });
    const later = await inHive({ title: 'Later', priority: 'low' });
    const blocked = await inHive({ title: 'Blocked', priority: 'critical' });
    const next = await inHive({ title: 'Now', priority: 'high' });
    await call.ok('POST', `/api/tasks/${blocked.id}/dependencies`, { depends_on: later.id });
    const errand = await call.createTask({ title: 'Do the next', agent: 'board-user', git: { repo: 'sample' } });
    await call.start(errand.id, { commitPolicy: 'forbidden' });
    const ended = await call.ended(errand.id);
    expect(ended.attempt.completion).toMatchObject({ status: 'success', summary: `Completed ${next.id}.` });
    expect(readFileSync(join(stack.dir, 'picked'), 'utf8')).toBe(next.id);
    expect(await call.ok('GET', `/api/tasks/${next.id}`)).toMatchObject({
      ...{ status: 'done', comments: [{ text: 'It is done.' }], observations: [{ content: 'Do it at once' }] },
    });
    expect((await call.ok('GET', `/api/tasks/${blocked.id}`)).status).toBe('todo');
  });
});
