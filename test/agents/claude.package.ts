import { anthropicApi } from './model-api/anthropic';
import { modelKey } from './model-api/server';
import { type AgentHost, expectCommittedEdit, startAgentHost, testedPackage } from './support/agent-host';

describe('Claude Code, the package', () => {
  let host: AgentHost;
  beforeAll(async () => {
    host = await startAgentHost(anthropicApi({ tool: 'Write', path: 'file_path' }), (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: modelKey,
    }));
    await host.addAgent({ preset: 'claude', type: 'locked', authentication: 'login' });
    await host.addAgent({ preset: 'claude', type: 'claude', authentication: 'key' });
  });
  afterAll(() => host.close());

  // It opens a session without a login, so that only its first prompt shows that there is none.
  it('without a login is not reported as authenticated, and its run names the remedy', async () => {
    const { ok, version, steps } = await host.check('locked');
    expect({ ok, version }).toEqual({ ok: true, version: testedPackage('claude') });
    expect(steps).toEqual({
      ...{ installed: 'ok', version: 'ok', handshake: 'ok' },
      ...{ authentication: 'skipped', session: 'ok' },
    });
    const { attempt, cause } = await host.run('locked');
    expect(attempt.completion.status).toBe('failed');
    expect(cause).toBe(
      'Authentication required: run `claude` on the host as the user of its agents, or set `ANTHROPIC_API_KEY` for the ' +
        'worker and name it in environmentKeys.',
    );
  });

  it('with a key opens a session with models and modes', async () => {
    const { ok, offer } = await host.check('claude');
    expect(ok).toBe(true);
    expect(offer?.models.map(({ id }) => id)).toContain('haiku');
    expect(offer?.modes.map(({ id }) => id)).toContain('acceptEdits');
  });

  it('runs to a success with its new file committed', () => expectCommittedEdit(host, 'claude'));
});
