import { anthropicApi } from './model-api/anthropic';
import { modelKey } from './model-api/server';
import { type AgentHost, expectCommittedEdit, startAgentHost, testedPackage } from './support/agent-host';

describe('OpenCode, the package', () => {
  let host: AgentHost;
  beforeAll(async () => {
    host = await startAgentHost(anthropicApi({ tool: 'write', path: 'filePath' }), (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: { anthropic: { options: { baseURL: `${url}/v1` } } },
        model: 'anthropic/claude-sonnet-4-5',
      }),
      OPENCODE_DISABLE_MODELS_FETCH: 'true',
      ANTHROPIC_API_KEY: modelKey,
    }));
    await host.addAgent({ preset: 'opencode', type: 'locked', authentication: 'login' });
    await host.addAgent({ preset: 'opencode', type: 'opencode', authentication: 'key' });
  });
  afterAll(() => host.close());

  // It opens a session without a login, so that only its first prompt shows that there is none.
  it('without a login is not reported as authenticated, and its run names the remedy', async () => {
    const { ok, version, steps } = await host.check('locked');
    expect({ ok, version }).toEqual({ ok: true, version: testedPackage('opencode') });
    expect(steps).toEqual({
      ...{ installed: 'ok', version: 'ok', handshake: 'ok' },
      ...{ authentication: 'skipped', session: 'ok' },
    });
    const { attempt, cause } = await host.run('locked');
    expect(attempt.completion.status).toBe('failed');
    expect(cause).toMatch(/^Authentication required \(provider authentication required\): run `opencode auth login`/);
  });

  it('with a key opens a session with models and modes', async () => {
    const { ok, offer } = await host.check('opencode');
    expect(ok).toBe(true);
    expect(offer?.models.map(({ id }) => id)).toContain('anthropic/claude-sonnet-4-5');
    expect(offer?.modes.map(({ id }) => id)).toContain('plan');
  });

  it('runs to a success with its new file committed', () => expectCommittedEdit(host, 'opencode'));
});
