import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentFromPreset } from '../../../contracts/settings/agent-preset';
import { createPresetDetector, detectPresets } from '../../../providers/agents/local/detect-presets';
import { createHostStore } from '../../../stores/runs/hosts/host-store';
import { type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeEach(async () => {
  board = await startTestApi();
});
afterEach(() => board.close());

/** Programs and logins of a host, as files. */
async function aHost({ programs = [], files = [] }: { programs?: string[]; files?: string[] }) {
  const [bin, home] = [join(board.dataDir, 'bin'), join(board.dataDir, 'home')];
  await mkdir(bin, { recursive: true });
  for (const program of programs) {
    // It is found and not started: it would leave a file.
    await writeFile(join(bin, program), `#!/bin/sh\ntouch ${board.dataDir}/started\n`);
    await chmod(join(bin, program), 0o755);
  }
  for (const file of files) {
    await mkdir(join(home, file, '..'), { recursive: true });
    await writeFile(join(home, file), '{}');
  }
  return { PATH: bin, HOME: home };
}

/** Announces a worker as one does that has started on the host. */
async function announce(hostId: string, environment: NodeJS.ProcessEnv, node?: number): Promise<void> {
  const detected = detectPresets({ environment }, new Date());
  const hosts = await createHostStore(board.api.context.database);
  await hosts.announceWorker(hostId, {
    hostname: hostId,
    workerId: 'one',
    capacity: { runs: 1, processes: 1, memoryMb: 1 },
    queues: [],
    draining: false,
    reservedRuns: 0,
    agentPresets: { ...detected, node: node ?? detected.node },
  });
}

const add = (body: Partial<AgentFromPreset>, headers: Record<string, string> = {}) =>
  board.call('POST', '/api/config/agents/from-preset', { body, headers });

describe('agent presets', () => {
  it('are listed with what each live host has, found without starting a program', async () => {
    const host = await aHost({ programs: ['gemini', 'npx'], files: ['.codex/auth.json'] });
    await announce('one', { ...host, GEMINI_API_KEY: 'a-key', OPENAI_API_KEY: '' });
    const { status, body } = await board.call('GET', '/api/config/agent-presets', { key: readKey });
    expect(status).toBe(200);
    const found = Object.fromEntries(body.presets.map(({ id, hosts }: { id: string; hosts: unknown }) => [id, hosts]));
    const shared = { hostId: 'one', node: expect.any(Number), npx: true, checkedAt: expect.any(String) };
    expect(found.gemini).toEqual([
      { ...shared, path: join(host.PATH, 'gemini'), environmentKeys: ['GEMINI_API_KEY'], login: false },
    ]);
    expect(found.codex).toEqual([{ ...shared, path: null, environmentKeys: [], login: true }]);
    expect(found.acp).toEqual([{ ...shared, path: null, environmentKeys: [], login: null }]);
    expect(JSON.stringify(body)).not.toContain('a-key');
    await expect(board.call('GET', '/api/config/agents')).resolves.toMatchObject({ body: { agents: [] } });
  });

  it('are detected at most once a minute, and a program that is installed later is noticed then', async () => {
    const environment = await aHost({});
    const start = Date.parse('2026-01-01T00:00:00.000Z');
    let now = start;
    const detect = createPresetDetector({ environment }, () => new Date(now));
    const gemini = () => detect().presets.find(({ id }) => id === 'gemini')?.path;
    expect(gemini()).toBeNull();
    await aHost({ programs: ['gemini'] });
    now = start + 59_999;
    expect([gemini(), detect().checkedAt]).toEqual([null, new Date(start).toISOString()]);
    now = start + 60_000;
    expect([gemini(), detect().checkedAt]).toEqual([join(environment.PATH, 'gemini'), new Date(now).toISOString()]);
    now = start - 60_000;
    expect(detect().checkedAt).toBe(new Date(now).toISOString());
  });

  it('name no hosts while none has announced what it has', async () => {
    await (await createHostStore(board.api.context.database)).announce('earlier', 'earlier.example');
    const { body } = await board.call('GET', '/api/config/agent-presets');
    expect(body.presets.map(({ hosts }: { hosts: unknown }) => hosts)).toEqual(body.presets.map(() => []));
  });
});

describe('an agent from a preset', () => {
  it('is the program with the key that the hosts have', async () => {
    const host = await aHost({ programs: ['gemini'] });
    await announce('one', { ...host, GEMINI_API_KEY: 'a-key' });
    await announce('two', host);
    const { status, body, headers } = await add({ preset: 'gemini', model: 'gemini-2.5-pro' });
    expect([status, headers.get('ETag')]).toEqual([201, '"settings:agents:1"']);
    expect(body.agent).toEqual({
      type: 'gemini',
      name: 'Gemini CLI',
      provider: 'acp',
      command: 'gemini',
      args: ['--acp'],
      environmentKeys: ['GEMINI_API_KEY'],
      authMethod: 'gemini-api-key',
      model: 'gemini-2.5-pro',
      enabled: true,
    });
    expect(body.requirements.at(-1)).toBe('Set `GEMINI_API_KEY` for the worker and start it again: two.');
    expect(body.requirements.join()).not.toContain('npx');
    expect((await board.call('GET', '/api/config/agents')).body).toMatchObject({
      agents: [body.agent],
      defaultAgent: 'gemini',
      revision: 1,
    });
  });

  it('is the package that the Node of every host runs, where a host has no program', async () => {
    const host = await aHost({ programs: ['npx'], files: ['.claude/.credentials.json'] });
    await announce('one', host, 24);
    await announce('two', host, 20);
    const { body } = await add({ preset: 'claude' });
    expect(body.agent).toMatchObject({
      command: 'npx',
      args: ['-y', '@agentclientprotocol/claude-agent-acp@0.49.0'],
      handshakeSeconds: 300,
      environmentKeys: [],
    });
    expect(body.agent).not.toHaveProperty('authMethod');
    const older = await add({ preset: 'claude', type: 'installed', run: 'program' });
    expect(older.body.agent).toMatchObject({ command: 'claude-agent-acp', args: [] });
    expect(older.body.requirements.at(-1)).toBe(
      'Install `claude-agent-acp` where the PATH of the worker has none: one, two.',
    );
  });

  it('reports that nothing is known without a live host, and names what goes with a key', async () => {
    const { body } = await add({ preset: 'goose', authentication: 'key' });
    expect(body.agent.environmentKeys).toEqual(expect.arrayContaining(['OPENAI_API_KEY', 'GOOSE_PROVIDER']));
    expect(body.requirements.at(-1)).toContain('No live host');
  });

  it('is any program of the protocol', async () => {
    const { body } = await add({ preset: 'acp', type: 'mine', command: '/opt/mine', args: ['--acp'], name: 'Mine' });
    expect(body.agent).toMatchObject({ type: 'mine', name: 'Mine', command: '/opt/mine', args: ['--acp'] });
  });

  it('is not added twice, nor at a stale revision, and replaces nothing', async () => {
    expect((await add({ preset: 'codex', type: 'one' })).status).toBe(201);
    const taken = await add({ preset: 'gemini', type: 'one' });
    expect([taken.status, taken.body.code, taken.body.details.agent.name]).toEqual([409, 'CONFLICT', 'Codex']);
    const stale = await add({ preset: 'gemini' }, { 'If-Match': '"settings:agents:7"' });
    expect(stale.status).toBe(409);
    expect((await add({ preset: 'gemini' }, { 'If-Match': '"settings:agents:1"' })).status).toBe(201);
    const { agents } = (await board.call('GET', '/api/config/agents')).body;
    expect(agents.map(({ type }: { type: string }) => type)).toEqual(['one', 'gemini']);
    const many = Array.from({ length: 100 }, (_, n) => ({ ...agents[0], type: `agent-${n}` }));
    await board.call('PUT', '/api/config/agents', { body: many });
    expect((await add({ preset: 'gemini' })).status).toBe(409);
  });

  it.each<[string, object, string]>([
    ['a preset that there is not', { preset: 'other' }, 'preset'],
    ['the preset acp without a command', { preset: 'acp' }, 'command'],
    ['a package that there is not', { preset: 'goose', run: 'package' }, 'run'],
    ['a command beside a package', { preset: 'gemini', run: 'package', command: '/opt/gemini' }, 'command'],
    ['an authentication that it has not', { preset: 'claude', authentication: 'none' }, 'authentication'],
    ['a variable of our own', { preset: 'gemini', environmentKeys: ['BOARD_ADMIN_KEY'] }, 'environmentKeys.0'],
    ['an unknown field', { preset: 'gemini', env: {} }, 'env'],
    ['a relative command', { preset: 'gemini', command: 'bin/gemini' }, 'command'],
    ['a credential in its arguments', { preset: 'gemini', args: ['--key', `ghp_${'a1B2c3D4e5'.repeat(4)}`] }, 'args.1'],
  ])('is refused with %s', async (_case, body, path) => {
    const refused = await add(body);
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
  });

  it('is added by those who may change settings, and audited', async () => {
    const { status } = await board.call('POST', '/api/config/agents/from-preset', {
      key: readKey,
      body: { preset: 'gemini' },
    });
    expect(status).toBe(403);
    await add({ preset: 'gemini' });
    const { body } = await board.call('GET', '/api/audit?action=agents.create');
    expect(JSON.stringify(body)).toContain('"preset":"gemini"');
  });
});
