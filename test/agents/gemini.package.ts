import { geminiApi } from './model-api/gemini';
import { modelKey } from './model-api/server';
import { type AgentHost, expectCommittedEdit, startAgentHost, testedPackage } from './support/agent-host';

describe('Gemini CLI, the package', () => {
  let host: AgentHost;
  beforeAll(async () => {
    host = await startAgentHost(geminiApi, (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: modelKey }));
    // With an address of its own it takes the API for a gateway, which needs no login.
    await host.addAgent({
      preset: 'gemini',
      type: 'locked',
      authentication: 'login',
      environmentKeys: host.offline,
    });
    // The model `auto` asks another model for each prompt which one to take.
    await host.addAgent({ preset: 'gemini', type: 'gemini', authentication: 'key', model: 'gemini-2.5-pro' });
  });
  afterAll(() => host.close());

  it('without a login is refused with what to do, by its check and its run', async () => {
    const { version, steps, failure } = await host.check('locked');
    expect(version).toBe(testedPackage('gemini'));
    expect(steps).toEqual({
      ...{ installed: 'ok', version: 'ok', handshake: 'ok' },
      ...{ authentication: 'failed', session: 'skipped' },
    });
    expect(failure).toBe(
      'Authentication required (Gemini API key is missing or not configured): run `gemini` on the host as the user of its ' +
        'agents, or set `GEMINI_API_KEY` for the worker and name it in environmentKeys, with authMethod `gemini-api-key`.',
    );
    expect((await host.run('locked')).cause).toBe(failure);
  });

  it('with a key opens a session with models and modes', async () => {
    const { ok, steps, offer } = await host.check('gemini');
    expect({ ok, authentication: steps.authentication }).toEqual({ ok: true, authentication: 'ok' });
    expect(offer?.models.map(({ id }) => id)).toContain('gemini-2.5-pro');
    expect(offer?.modes.map(({ id }) => id)).toContain('plan');
  });

  it('runs to a success with its new file committed', () => expectCommittedEdit(host, 'gemini'));
});
