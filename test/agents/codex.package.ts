import { existsSync, rmdirSync } from 'node:fs';
import { responsesApi } from './model-api/responses';
import { modelKey } from './model-api/server';
import { type AgentHost, expectCommittedEdit, startAgentHost, testedPackage } from './support/agent-host';

describe('Codex, the package', () => {
  let host: AgentHost;
  const directory = `/tmp/codex-daemon-${process.getuid?.()}`;
  const hadDirectory = existsSync(directory);
  beforeAll(async () => {
    host = await startAgentHost(responsesApi, (url) => ({
      CODEX_CONFIG: JSON.stringify({ openai_base_url: `${url}/v1` }),
      OPENAI_API_KEY: modelKey,
    }));
    await host.addAgent({ preset: 'codex', type: 'locked', authentication: 'login' });
    // Its usual mode asks a model for each approval; and its own sandbox is not on every machine.
    await host.addAgent({ preset: 'codex', type: 'codex', authentication: 'key', mode: 'agent-full-access' });
  });
  afterAll(async () => {
    await host.close();
    // Codex makes it empty, whatever the directory for temporary files is.
    if (!hadDirectory && existsSync(directory)) {
      rmdirSync(directory);
    }
  });

  // Before any other: the key that it is once given stays in its directory.
  it('without a login is refused with what to do, by its check and its run', async () => {
    const { version, steps, failure } = await host.check('locked');
    expect(version).toBe(testedPackage('codex'));
    expect(steps).toEqual({
      ...{ installed: 'ok', version: 'ok', handshake: 'ok' },
      ...{ authentication: 'failed', session: 'skipped' },
    });
    expect(failure).toBe(
      'Authentication required: run `codex login` on the host as the user of its agents, or set `OPENAI_API_KEY` for the ' +
        'worker and name it in environmentKeys, with authMethod `api-key`.',
    );
    expect((await host.run('locked')).cause).toBe(failure);
  });

  it('with a key opens a session with models and modes', async () => {
    const { ok, steps, offer } = await host.check('codex');
    expect({ ok, authentication: steps.authentication }).toEqual({ ok: true, authentication: 'ok' });
    expect(offer?.models.length).toBeGreaterThan(0);
    expect(offer?.modes.map(({ id }) => id)).toContain('read-only');
  });

  it('runs to a success with its new file committed', () => expectCommittedEdit(host, 'codex'));
});
