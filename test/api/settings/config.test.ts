import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createHostStore } from '../../../stores/runs/hosts/host-store';
import { anAgent } from '../../support/factories/agent';
import { aRepository } from '../../support/git/repository';
import { type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeEach(async () => {
  board = await startTestApi();
});
afterEach(() => board.close());

const agent = (type: string, fields: Record<string, unknown> = {}) => ({
  type,
  name: `Agent ${type}`,
  provider: 'process',
  command: '/usr/bin/true',
  ...fields,
});
const put = (body: unknown, headers: Record<string, string> = {}) =>
  board.call('PUT', '/api/config/agents', { body, headers });

describe('agents', () => {
  it('are none at first', async () => {
    const { status, body } = await board.call('GET', '/api/config/agents', { key: readKey });
    expect([status, body]).toEqual([200, { agents: [], defaultAgent: null, revision: 0 }]);
  });

  it('are replaced as a whole, as an object or as a bare list, with the first enabled one as default', async () => {
    const replaced = await put({ agents: [agent('off', { enabled: false }), agent('one'), agent('two')] });
    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({ defaultAgent: 'one', revision: 1 });
    expect(replaced.body.agents[1]).toEqual({ ...agent('one'), args: [], environmentKeys: [], enabled: true });
    expect((await put([agent('three')])).body).toMatchObject({ agents: [{ type: 'three' }], revision: 2 });
    const { body, headers } = await board.call('GET', '/api/config/agents');
    expect(body).toMatchObject({ agents: [{ type: 'three' }], defaultAgent: 'three', revision: 2 });
    expect(headers.get('ETag')).toBe('"settings:agents:2"');
  });

  it.each([
    ['a process agent without a command', { agents: [{ ...agent('a'), command: undefined }] }, 'agents.0.command'],
    ['two of one type', { agents: [agent('a'), agent('a')] }, 'agents'],
    ['two of one type in a bare list', [agent('a'), agent('a')], 'agents'],
    [
      'values of environment variables',
      { agents: [agent('a', { environment: { TOKEN: 'x' } })] },
      'agents.0.environment',
    ],
    [
      'a name of our own',
      { agents: [agent('a', { environmentKeys: ['BOARD_ADMIN_KEY'] })] },
      'agents.0.environmentKeys.0',
    ],
    [
      'a variable that loads code',
      [agent('a', { environmentKeys: ['MODEL_KEY', 'NODE_OPTIONS'] })],
      '0.environmentKeys.1',
      'NODE_OPTIONS changes what programs load or run; agents are not given it',
    ],
    [
      'an agent to go on with that speaks the protocol over its pipes',
      { agents: [agent('a', { provider: 'acp', reattach: true })] },
      'agents.0.reattach',
      'is allowed only for process agents',
    ],
    [
      'an agent elsewhere to go on with, in a bare list',
      [{ type: 'a', name: 'A', provider: 'remote-callback', reattach: true }],
      '0.reattach',
    ],
    ['a relative command', { agents: [agent('a', { command: './x' })] }, 'agents.0.command'],
    ['a relative command in a bare list', [agent('a', { command: 'bin/x' })], '0.command'],
    [
      'a relative command of a tool server',
      { agents: [agent('a', { provider: 'acp', mcpServers: [{ type: 'stdio', name: 'files', command: '../x' }] })] },
      'agents.0.mcpServers.0.command',
    ],
    ['an unknown provider', { agents: [agent('a', { provider: 'magic' })] }, 'agents.0.provider'],
    ['an unknown provider in a bare list', [agent('a', { provider: 'magic' })], '0.provider'],
  ])('are refused with %s', async (_case, body, path, message = expect.any(String)) => {
    const refused = await put(body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path, message }));
  });

  it.each([
    ['an argument', { args: ['-v', `--header=Bearer ${'a1'.repeat(12)}`] }, 'args.1'],
    ['the argument after its option', { args: ['--api-key', 'correct-horse-battery'] }, 'args.1'],
    ['the value of a token', { args: ['--github-token', 'correct-horse-battery'] }, 'args.1'],
    ['a variable with its value', { args: ['MODEL_TOKEN=correct-horse-battery', 'bee'] }, 'args.0'],
    ['the arguments of its version', { versionArgs: ['--password=correct-horse-battery'] }, 'versionArgs.0'],
    ['arguments where it is not trusted', { untrustedArgs: ['--secret', 'correct-horse-battery'] }, 'untrustedArgs.1'],
    ['the command', { command: 'API_KEY=correct-horse-battery bee' }, 'command'],
    ['the name of a variable', { environmentKeys: ['MODEL_KEY', 'AKIAIOSFODNN7EXAMPLE'] }, 'environmentKeys.1'],
  ])('are refused with a credential in %s, which is not repeated', async (_case, fields, path) => {
    for (const [body, prefix] of [
      [{ agents: [agent('a'), agent('b', fields)] }, 'agents.1'],
      [[agent('a'), agent('b', fields)], '1'],
    ] as const) {
      const refused = await put(body);
      expect(refused.status).toBe(400);
      expect(refused.body.details.issues).toEqual([
        expect.objectContaining({ path: `${prefix}.${path}`, code: 'credential' }),
      ]);
      expect(JSON.stringify(refused.body)).not.toMatch(/battery|a1a1|AKIA/);
    }
    expect((await board.call('GET', '/api/config/agents')).body.revision).toBe(0);
  });

  it('may name the files and variables that their credentials are in', async () => {
    const args = [
      '--token-file',
      '/run/keys/token',
      '--api-key-file',
      '/run/keys/model',
      '--max-token=10000000',
      '--token',
      'stdin',
    ];
    const answer = await put([agent('a', { args, environmentKeys: ['MODEL_KEY', 'GITHUB_TOKEN'] })]);
    expect(answer).toMatchObject({ status: 200, body: { agents: [{ args }] } });
  });

  it('are shown as they were stored, with a relative command of an earlier version', async () => {
    await board.api.context.agents.replace([anAgent({ command: './x' })]);
    const { status, body } = await board.call('GET', '/api/config/agents');
    expect([status, body.agents[0].command]).toEqual([200, './x']);
  });

  it('are replaced by exactly one of many who have seen the same revision', async () => {
    await put({ agents: [agent('seen')] });
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, writer) => put({ agents: [agent(`writer-${writer}`)], expectedRevision: 1 })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    const stale = await put({ agents: [] }, { 'If-Match': '"settings:agents:1"' });
    expect(stale.body).toMatchObject({ code: 'CONFLICT', details: { expectedRevision: 1 } });
  });

  it('lose no replacement among many who have seen none', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, (_, writer) => put([agent(`writer-${writer}`)])));
    expect(replies.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
    expect((await board.call('GET', '/api/config/agents')).body.revision).toBe(10);
  });

  it('have a default that can be chosen, taken back, and goes with its agent', async () => {
    await put({ agents: [agent('one'), agent('two'), agent('off', { enabled: false })] });
    const choose = (type: string | null) => board.call('PUT', '/api/config/default-agent', { body: { agent: type } });
    expect((await choose('two')).body).toMatchObject({ defaultAgent: 'two', revision: 2 });
    expect((await choose(null)).body.defaultAgent).toBe('one');
    for (const unknown of ['off', 'nobody']) {
      const refused = await choose(unknown);
      expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, 'agent']);
    }
    await choose('two');
    expect((await put({ agents: [agent('one')] })).body.defaultAgent).toBe('one');
  });
});

describe('repositories', () => {
  let files: TempDir;
  let atlas: { name: string; path: string };
  const aPath = async (name: string): Promise<string> => {
    await mkdir(join(files.path, name, '.git'), { recursive: true });
    return join(files.path, name);
  };
  beforeEach(async () => {
    files = await makeTempDir('repositories');
    atlas = { name: 'atlas', path: await aPath('atlas') };
  });
  afterEach(() => files.remove());

  it('are added, listed, changed and forgotten', async () => {
    const added = await board.call('POST', '/api/config/repos', { body: { ...atlas, defaultBranch: 'trunk' } });
    expect([added.status, added.body]).toEqual([201, { ...atlas, defaultBranch: 'trunk' }]);
    const aaa = { name: 'aaa', path: await aPath('aaa'), remote: null, mergeBranches: ['next'] };
    await board.call('POST', '/api/config/repos', { body: aaa });
    const path = await aPath('moved');
    const changed = await board.call('PATCH', '/api/config/repos/atlas', { body: { path } });
    expect(changed.body).toEqual({ name: 'atlas', path, defaultBranch: 'trunk' });
    const { body } = await board.call('GET', '/api/config/repos', { key: readKey });
    expect(body).toEqual({ repos: [{ ...aaa, defaultBranch: 'main' }, changed.body] });
    expect((await board.call('POST', '/api/config/repos/atlas/reread')).body).toEqual(changed.body);
    expect((await board.call('DELETE', '/api/config/repos/atlas')).status).toBe(204);
    expect((await board.call('DELETE', '/api/config/repos/atlas')).status).toBe(404);
    expect((await board.call('PATCH', '/api/config/repos/atlas', { body: { path: '/a' } })).status).toBe(404);
    expect((await board.call('POST', '/api/config/repos/atlas/reread')).status).toBe(404);
  });

  it('have names of their own', async () => {
    await board.call('POST', '/api/config/repos', { body: atlas });
    const refused = await board.call('POST', '/api/config/repos', { body: atlas });
    expect([refused.status, refused.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('are there, on a host that is known', async () => {
    const refusal = async (method: string, path: string, body: object) => {
      const { status, body: error } = await board.call(method, path, { body });
      return [status, error.details.issues?.[0].path ?? error.code];
    };
    const hosts = await createHostStore(board.api.context.database);
    expect(await refusal('POST', '/api/config/repos', { ...atlas, path: '/nowhere/at/all' })).toEqual([400, 'path']);
    expect(await refusal('POST', '/api/config/repos', { ...atlas, hostId: 'nobody' })).toEqual([400, 'hostId']);
    const anHourAgo = () => new Date(Date.now() - 3_600_000);
    await (await createHostStore(board.api.context.database, anHourAgo)).announce('asleep', 'asleep.example');
    const asleep = { ...atlas, hostId: 'asleep' };
    expect(await refusal('POST', '/api/config/repos', asleep)).toEqual([409, 'HOST_UNAVAILABLE']);
    await hosts.announce('awake', 'awake.example');
    await board.call('POST', '/api/config/repos', { body: atlas });
    const patched = { hostId: 'nobody' };
    expect(await refusal('PATCH', '/api/config/repos/atlas', patched)).toEqual([400, 'hostId']);
    expect(await refusal('PATCH', '/api/config/repos/atlas', { path: '/nowhere/at/all' })).toEqual([400, 'path']);
    expect((await board.call('GET', '/api/config/repos')).body.repos).toEqual([{ ...atlas, defaultBranch: 'main' }]);
  });

  it.each([
    ['a relative path', { path: 'srv/atlas' }, 'path'],
    ['a path that climbs', { path: '/srv/../etc' }, 'path'],
    ['a name that is a path', { name: '../atlas' }, 'name'],
    ['an unknown field', { url: 'x' }, 'url'],
    ['a filter that is no name', { allowFilters: ['a b'] }, 'allowFilters.0'],
    ['a remote that is no text', { remote: 1 }, 'remote'],
  ])('are refused with %s', async (_case, fields, path) => {
    const refused = await board.call('POST', '/api/config/repos', { body: { ...atlas, ...fields } });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues[0].path).toBe(path);
  });
});

it('GET /api/config answers all of it', async () => {
  await put([agent('one')]);
  await board.call('POST', '/api/config/repos', { body: { name: 'atlas', path: await aRepository(board.dataDir) } });
  const { body } = await board.call('GET', '/api/config');
  expect(body).toMatchObject({ agents: [{ type: 'one' }], defaultAgent: 'one', repos: [{ name: 'atlas' }] });
});
