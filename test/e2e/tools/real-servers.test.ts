import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { programOf } from '../../support/factories/tool-server';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

/** What the agent has written down of its session. */
interface Used {
  servers: object[];
  tools: string[];
  made: { isError?: boolean; content: { text: string }[] }[];
}

const script = resolve(__dirname, '../../support/tool-servers/mcp-user.mjs');

let stack: Stack;
let results: string;

beforeAll(async () => {
  stack = await startStack();
  const { call, dir } = stack;
  results = join(dir, 'results.json');
  const file = join(dir, 'note.txt');
  writeFileSync(file, 'remember');
  await call.addRepository('sample', await aRepository(dir));
  const server = (id: string, transport: object, fields: object = {}) =>
    call.ok('POST', '/api/tool-servers', { id, displayName: id, transport, ...fields });
  await server('everything', programOf('everything'), {
    deniedTools: ['get-env'],
    approvalRequiredTools: ['get-sum'],
  });
  await server('filesystem', programOf('filesystem', dir), { allowedTools: ['read_text_file'] });
  await server('memory', programOf('memory'));
  const rules = [{ action: 'memory/delete_entities', effect: 'deny' }];
  await call.ok('POST', '/api/policies', { name: 'Nothing is forgotten', rules });
  const calls = [
    { name: 'everything__echo', arguments: { message: 'hello' } },
    { name: 'everything__get-env', arguments: {} },
    { name: 'everything__get-sum', arguments: { a: 1, b: 2 } },
    { name: 'filesystem__read_text_file', arguments: { path: file } },
    { name: 'filesystem__write_file', arguments: { path: join(dir, 'written'), content: 'x' } },
    { name: 'memory__read_graph', arguments: {} },
    { name: 'memory__delete_entities', arguments: { entityNames: ['bee'] } },
  ];
  writeFileSync(join(dir, 'calls.json'), JSON.stringify(calls));
  await call.configureAgents([
    {
      ...{ type: 'mcp-user', name: 'Uses tools', provider: 'acp', command: process.execPath },
      args: [script, join(dir, 'calls.json'), results],
      toolServers: ['everything', 'filesystem', 'memory'],
    },
  ]);
});
afterAll(() => stack.close());

describe('tools of servers of the registry', () => {
  it.each([
    ['everything', 'echo', 'allowed'],
    ['everything', 'get-env', 'denied'],
    ['everything', 'get-sum', 'approval-required'],
    ['filesystem', 'read_text_file', 'allowed'],
    ['filesystem', 'write_file', 'denied'],
    ['memory', 'read_graph', 'allowed'],
  ])('are discovered: %s has %s, which is %s', async (id, tool, policy) => {
    const { tools } = await stack.call.ok('POST', `/api/tool-servers/${id}/discover`, {});
    expect(tools.find(({ name }: { name: string }) => name === tool)).toMatchObject({ policy });
  });

  it('are called by an agent of the Agent Client Protocol as a server of its session, and no other way than the rules let it', async () => {
    const { call, dir } = stack;
    const task = await call.createTask({ title: 'Use tools', agent: 'mcp-user', git: { repo: 'sample' } });
    const { attemptId } = await call.start(task.id);
    const pending = await eventually(async () => {
      const found = await call.ok('GET', `/api/run-approvals?attemptId=${attemptId}&status=pending`);
      expect(found).toHaveLength(1);
      return found[0];
    });
    expect(pending).toMatchObject({ actionClass: 'tool', resourceScope: ['everything/get-sum'] });
    await call.ok('POST', `/api/run-approvals/${pending.id}/decision`, {
      decision: 'approved',
      expectedRevision: pending.revision,
      expectedActionHash: pending.actionHash,
    });
    await call.ended(task.id);

    const used = JSON.parse(readFileSync(results, 'utf8')) as Used;
    expect(used.servers).toEqual([{ type: 'http', name: 'runboard' }]);
    expect(used.tools).toEqual(expect.arrayContaining(['everything__echo', 'filesystem__read_text_file']));
    expect(used.tools).not.toContain('everything__get-env');
    expect(used.tools).not.toContain('filesystem__write_file');
    const outcomes = used.made.map(({ isError = false, content }) => [isError, content.map(({ text }) => text).join()]);
    expect(outcomes).toEqual([
      [false, expect.stringContaining('hello')],
      [true, expect.stringContaining('TOOL_DENIED')],
      [false, expect.stringContaining('3')],
      [false, expect.stringContaining('remember')],
      [true, expect.stringContaining('TOOL_DENIED')],
      [false, expect.any(String)],
      [true, expect.stringContaining('TOOL_FORBIDDEN')],
    ]);
    expect(existsSync(join(dir, 'written'))).toBe(false);
    const events = await call.events(task.id, attemptId);
    const called = events.filter(({ kind, payload }) => kind === 'tool.started' && payload.callId !== undefined);
    expect(called.map(({ payload }) => payload.tool)).toEqual(['echo', 'get-sum', 'read_text_file', 'read_graph']);
  });
});
