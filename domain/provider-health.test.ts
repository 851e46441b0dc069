import { type AgentConfig, agentConfig } from '../contracts/settings/agent-config';
import type { AgentSupportRow } from '../contracts/settings/agent-support';
import { supportRow } from './agent-support';
import { providerHealthOf } from './provider-health';

const agent = (fields: Partial<AgentConfig>): AgentConfig =>
  agentConfig.parse({ type: 'one', name: 'One', provider: 'acp', command: 'gemini', ...fields });
const row = (type: string, fields: Partial<AgentSupportRow> = {}): AgentSupportRow => ({
  ...supportRow(agent({ type }), undefined),
  hostId: 'host',
  checkedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});
const failed = { failureClass: 'probe-failed', reason: 'It did not respond to its probe.' } as const;
const healthOf = (agents: AgentConfig[], rows: AgentSupportRow[]) =>
  providerHealthOf(agents, rows).find(({ provider }) => provider === 'acp');

describe('provider health', () => {
  const one = agent({ type: 'one' });

  it.each([
    ['unused', [], []],
    ['unused', [agent({ enabled: false })], [row('one')]],
    ['unknown', [one], [row('one', { checkedAt: null })]],
    ['healthy', [one], [row('one')]],
    ['degraded', [one], [row('one'), row('one', { hostId: 'other', ...failed })]],
    ['unavailable', [one], [row('one', failed)]],
  ] as const)('is %s', (status, agents, rows) => {
    expect(healthOf([...agents], [...rows])).toMatchObject({ status });
  });

  it('names what failed, with its remedy', () => {
    expect(healthOf([one], [row('one', failed)])).toMatchObject({
      agents: { configured: 1, enabled: 1 },
      probes: { total: 1, usable: 0 },
      failures: [{ agentType: 'one', hostId: 'host', failureClass: 'probe-failed' }],
    });
  });
});

describe('a support row', () => {
  const of = (fields: Partial<AgentConfig>) => supportRow(agent(fields), undefined);

  it('names the preset whose program the agent is', () => {
    expect(of({ command: '/usr/local/bin/gemini' }).profileId).toBe('gemini');
    expect(of({ command: 'npx', args: ['@google/gemini-cli@1.2.3', '--acp'] }).profileId).toBe('gemini');
    expect(of({ command: 'mine' }).profileId).toBe('acp');
  });

  it('has commands that find out more, without credentials', () => {
    const token = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB';
    const { diagnosticCommands } = of({
      provider: 'process',
      command: "/home/ada/it's",
      args: ['--key', token],
      versionArgs: ['--version', token],
    });
    expect(diagnosticCommands).toEqual([
      `command -v '/home/[REDACTED]/it'\\''s'`,
      `'/home/[REDACTED]/it'\\''s' --version [REDACTED]`,
      'POST /api/config/agents/one/check {}',
    ]);
  });
});
