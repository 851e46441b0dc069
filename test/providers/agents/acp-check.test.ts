import { join, resolve } from 'node:path';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import { anAgent } from '../../support/factories/agent';

const secret = 'a-key-that-nobody-may-see';
const acp = createAcpProvider({ environment: { ...process.env, SOME_KEY: secret } });
const support = resolve(__dirname, '../../support/agents');

const replayed = (conversation: string, fields: Partial<AgentConfig> = {}) =>
  anAgent({
    type: 'replayed',
    provider: 'acp',
    command: process.execPath,
    args: [join(support, 'replay-acp.mjs'), join(support, 'conversations', `${conversation}.jsonl`)],
    ...fields,
  });

/** The status of each step, with the message of the failed one. */
async function checked(agent: AgentConfig) {
  const { findings, offer } = await acp.check!(agent);
  const failure = findings.find(({ status }) => status === 'failed');
  expect(JSON.stringify(findings)).not.toContain(secret);
  return { steps: Object.fromEntries(findings.map(({ step, status }) => [step, status])), failure, offer };
}

const ok = { installed: 'ok', version: 'ok', handshake: 'ok' };

describe('a check of an agent of the protocol', () => {
  it('goes as far as a session, and lists what it offers', async () => {
    const fields = { authMethod: 'gemini-api-key', model: 'gemini-2.5-pro', mode: 'plan' };
    const { steps, failure, offer } = await checked(replayed('gemini-session', fields));
    expect(failure).toBeUndefined();
    expect(steps).toEqual({ ...ok, authentication: 'ok', session: 'ok' });
    expect(offer).toMatchObject({ model: 'gemini-2.5-pro', mode: 'plan' });
  });

  it('names optional tool servers that were left out', async () => {
    const optional = { requirement: 'optional' as const };
    const program = { type: 'stdio' as const, args: [], environmentKeys: [], ...optional };
    const mcpServers = [
      { ...program, name: 'docs', command: 'no-such-program' },
      { ...program, name: 'node', command: process.execPath },
      { type: 'sse' as const, name: 'remote', url: 'https://example.org', headers: [], ...optional },
    ];
    const { findings } = await acp.check!(replayed('claude-session', { mcpServers }));
    const session = findings.find(({ step }) => step === 'session');
    expect(session).toMatchObject({ status: 'ok', message: expect.stringContaining('docs has no program') });
    expect(session?.message).not.toContain('node ');
    expect((await acp.check!(replayed('claude-session'))).findings.at(-1)?.message).not.toContain('left out');
  });

  it('does not claim a login that only a prompt would show', async () => {
    const { steps } = await checked(replayed('claude-refused'));
    expect(steps).toEqual({ ...ok, authentication: 'skipped', session: 'ok' });
  });

  it.each([['gemini-refused'], ['codex-refused'], ['goose-refused']])('finds the missing login of %s', async (name) => {
    const { steps, failure } = await checked(replayed(name));
    expect([steps.handshake, failure?.step]).toEqual(['ok', 'authentication']);
    expect(failure?.remedy).toMatch(/run `|set `|log in/);
    expect(steps.session).toBe('skipped');
  });

  it('finds a mode that its session does not offer', async () => {
    const { steps, failure } = await checked(replayed('claude-session', { mode: 'missing' }));
    expect([steps.session, failure?.step, failure?.remedy]).toEqual([
      'failed',
      'session',
      expect.stringContaining('acceptEdits'),
    ]);
  });

  it.each<[string, Partial<AgentConfig>, string, RegExp]>([
    ['a program that is not there', { command: 'no-such-program' }, 'installed', /Install no-such-program/],
    ['a program that ends', { args: ['-e', 'process.exit(1)'] }, 'handshake', /run its command/],
    [
      'one that prints nothing',
      { args: ['-e', 'setInterval(() => {}, 1000)'], handshakeSeconds: 1 },
      'handshake',
      /handshakeSeconds/,
    ],
  ])('finds %s', async (_case, fields, step, remedy) => {
    const { steps, failure } = await checked(replayed('gemini-session', fields));
    expect([failure?.step, failure?.remedy]).toEqual([step, expect.stringMatching(remedy)]);
    expect(steps.session).toBe('skipped');
  });

  it('shows the last words of a program that ends, without secrets', async () => {
    const script = `console.error('Error: the install script was not run with ' + process.env.SOME_KEY); process.exit(1)`;
    const { failure } = await checked(replayed('', { args: ['-e', script], environmentKeys: ['SOME_KEY'] }));
    expect(failure).toMatchObject({
      step: 'handshake',
      message: expect.stringMatching(/Its last words: Error: the install script was not run with \[REDACTED\]/),
    });
  });

  it('shows no secret that the agent repeats', async () => {
    const script = `process.stdin.once('data', (line) => { const { id } = JSON.parse(line);
      console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: process.env.SOME_KEY } })); })`;
    const { failure } = await checked(replayed('', { args: ['-e', script], environmentKeys: ['SOME_KEY'] }));
    expect(failure).toMatchObject({ step: 'handshake', message: expect.stringContaining('[REDACTED]') });
  });
});

it('a check of a process agent finds its program and its version', async () => {
  const provider = createProcessProvider({ environment: process.env });
  const agent = (fields: Partial<AgentConfig>) => anAgent({ type: 'node', command: process.execPath, ...fields });
  const { findings } = await provider.check!(agent({ versionArgs: ['--version'] }));
  expect(findings.map(({ status }) => status)).toEqual(['ok', 'ok', 'skipped', 'skipped', 'skipped']);
  expect(findings[1]?.message).toContain(process.version);
  const [missing] = (await provider.check!(agent({ command: 'no-such-program' }))).findings;
  expect(missing).toMatchObject({
    step: 'installed',
    status: 'failed',
    program: 'no-such-program',
    searched: expect.arrayContaining(['/usr/bin']),
    remedy: expect.stringContaining('Install no-such-program'),
  });
});
