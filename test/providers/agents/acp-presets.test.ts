import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { SessionOffer } from '../../../contracts/settings/session-offer';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import { anAgent } from '../../support/factories/agent';
import { aDispatch, RecordingSink } from './agent-fixture';

const environment = { ...process.env, WEB_TOKEN: 'a-token-for-the-web-server', FILES_ROOT: '/srv/files' };
const provider = createAcpProvider({ environment });
const conversations = resolve(__dirname, '../../support/agents/conversations');
let directory: TempDir;

beforeEach(async () => {
  directory = await makeTempDir('presets');
});
afterEach(() => directory.remove());

class OfferSink extends RecordingSink {
  offer: SessionOffer | undefined;

  offered(offer: SessionOffer): Promise<void> {
    this.offer = offer;
    return Promise.resolve();
  }
}

const replayed = (name: string, fields: Partial<AgentConfig> = {}) =>
  anAgent({
    type: 'replayed',
    provider: 'acp',
    command: process.execPath,
    args: [
      resolve(__dirname, '../../support/agents/replay-acp.mjs'),
      name.startsWith('/') ? name : join(conversations, `${name}.jsonl`),
      join(directory.path, 'client.jsonl'),
    ],
    ...fields,
  });

const transport = {
  envelope: {
    objective: { title: 'Say hello', description: '', subtasks: [] },
    commitPolicy: 'allowed',
    phase: 'implement',
    expectedOutputs: [],
    workspace: null,
  },
  sections: [],
};

async function run(agent: AgentConfig, changes: { requestedModel?: string } = {}) {
  const sink = new OfferSink();
  const dispatch = await aDispatch(directory, '', { agent, transport, ...changes });
  const outcome = await provider.run(dispatch, sink, new AbortController().signal);
  return { outcome, sink };
}

/** What the client sent for a method. */
async function sent(method: string): Promise<Record<string, unknown>[]> {
  const lines = (await readFile(join(directory.path, 'client.jsonl'), 'utf8')).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as { method: string; params: Record<string, unknown> })
    .flatMap((message) => (message.method === method ? [message.params] : []));
}

describe('a conversation with an agent of today, replayed', () => {
  it.each<[string, Partial<AgentConfig>, { models: string[]; modes: string[] }]>([
    [
      'gemini-session',
      { authMethod: 'gemini-api-key', model: 'gemini-2.5-pro', mode: 'plan' },
      { models: ['auto', 'gemini-2.5-pro'], modes: ['default', 'plan'] },
    ],
    [
      'codex-session',
      { authMethod: 'api-key', model: 'gpt-6.1-sol[high]', mode: 'read-only' },
      { models: ['gpt-6.1-sol[low]', 'gpt-6-sol'], modes: ['read-only', 'agent'] },
    ],
    ['claude-session', { model: 'haiku', mode: 'plan' }, { models: ['default', 'haiku'], modes: ['acceptEdits'] }],
    [
      'opencode-session',
      { model: 'stand-in/model-1', mode: 'plan' },
      { models: ['opencode/space-bunny-free'], modes: ['build', 'plan'] },
    ],
    ['goose-session', { model: 'gpt-4o-mini', mode: 'auto' }, { models: ['gpt-4o'], modes: ['chat'] }],
  ])('%s is held to its end, with the model and the mode that were chosen', async (name, fields, offers) => {
    const { outcome, sink } = await run(replayed(name, fields));
    expect(outcome.error).toBeUndefined();
    expect(outcome.result).toMatchObject({ status: 'success', summary: 'Hello from the stand-in.' });
    const started = sink.events.find(({ kind }) => kind === 'conversation.started');
    expect(started?.payload).toMatchObject({ model: fields.model, mode: fields.mode });
    expect(sink.offer).toMatchObject({ model: fields.model, mode: fields.mode });
    expect(sink.offer?.models.map(({ id }) => id)).toEqual(expect.arrayContaining(offers.models));
    expect(sink.offer?.modes.map(({ id }) => id)).toEqual(expect.arrayContaining(offers.modes));
  });

  it.each([
    ['gemini-refused', 'Authentication required (Gemini API key is missing or not configured): run `gemini`'],
    ['codex-refused', 'Authentication required: run `codex login` on the host'],
    ['claude-refused', 'Authentication required: run `claude` on the host'],
    [
      'opencode-refused',
      'Authentication required (provider authentication required): run `opencode auth login` on the host',
    ],
    ['goose-refused', 'Authentication required: run `goose configure` on the host'],
  ])('%s fails with its cause and what helps', async (name, error) => {
    const { outcome } = await run(replayed(name));
    expect(outcome.error).toContain(error);
    expect(outcome.error?.split('\n')).toHaveLength(1);
    expect(outcome.result).toMatchObject({
      status: 'failed',
      blockers: [{ code: 'authentication-required', summary: expect.stringMatching(/^Authentication required/) }],
    });
  });

  it('the refusal of a method names what it needs', async () => {
    const { outcome } = await run(replayed('codex-without-key', { authMethod: 'api-key' }));
    expect(outcome.error).toBe(
      'Authentication with api-key failed (Internal error: CODEX_API_KEY or OPENAI_API_KEY is not set): run `codex login` on ' +
        'the host as the user of its agents, or set `OPENAI_API_KEY` for the worker and name it in environmentKeys.',
    );
    expect(outcome.result?.blockers).toMatchObject([{ code: 'authentication-failed', retryable: false }]);
  });

  it('a method that the agent does not have is not tried', async () => {
    const { outcome } = await run(replayed('codex-session', { authMethod: 'magic' }));
    expect(outcome.error).toMatch(/^The agent has no authentication method magic: It offers `api-key` \(API Key: /);
    expect(await sent('authenticate')).toEqual([]);
  });

  it.each<[string, Partial<AgentConfig>, string, RegExp]>([
    ['a model', { model: 'nope' }, 'model-not-offered', /does not offer the model nope: choose one of auto, gemini-/],
    [
      'a mode',
      { model: 'auto', mode: 'nope' },
      'mode-not-offered',
      /does not offer the mode nope: choose one of default, /,
    ],
  ])('%s that is not offered fails the run with what is', async (_what, fields, code, error) => {
    const { outcome } = await run(replayed('gemini-session', { authMethod: 'gemini-api-key', ...fields }));
    expect(outcome.result?.blockers).toMatchObject([{ code }]);
    expect(outcome.error).toMatch(error);
    expect(await sent('session/prompt')).toEqual([]);
  });

  /** An agent that offers neither models nor modes, as a file for the replay. */
  async function plain(): Promise<string> {
    const path = join(directory.path, 'plain.jsonl');
    const messages = [
      { source: 'written' },
      { client: { id: 0, method: 'initialize' } },
      { agent: { id: 0, result: { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { http: true } } } } },
      { client: { id: 1, method: 'session/new' } },
      { agent: { id: 1, result: { sessionId: 's' } } },
      { client: { id: 2, method: 'session/prompt' } },
      { agent: { id: 2, result: { stopReason: 'end_turn' } } },
    ];
    await writeFile(path, `${messages.map((message) => JSON.stringify(message)).join('\n')}\n`);
    return path;
  }

  it.each([
    ['Gemini CLI reads files by itself', ['@google/gemini-cli@0.61.0', '--acp'], false],
    ['another agent may read files through us', ['@agentclientprotocol/codex-acp@2.6.0'], true],
  ])('%s', async (_case, args, readTextFile) => {
    const agent = replayed(await plain());
    await run({ ...agent, args: [...agent.args, ...args] });
    expect(await sent('initialize')).toMatchObject([
      { clientCapabilities: { fs: { readTextFile, writeTextFile: true } } },
    ]);
  });

  it('the model of an agent that offers none is a label, unless the launch names it', async () => {
    const agent = replayed(await plain(), { model: 'label' });
    expect((await run(agent)).outcome.result).toMatchObject({ status: 'success' });
    expect((await run(agent, { requestedModel: 'label' })).outcome.error).toBe(
      'The agent does not offer the model label: it offers no models: leave model out.',
    );
  });

  it('a session is given its tool servers, whose credentials are in nothing that is recorded', async () => {
    const agent = replayed(await plain(), {
      mcpServers: [
        {
          type: 'stdio',
          name: 'files',
          command: 'node',
          args: ['server.mjs'],
          environmentKeys: ['FILES_ROOT', 'UNSET'],
        },
        {
          type: 'http',
          name: 'web',
          url: 'https://tools.example/mcp',
          headers: [{ name: 'Authorization', environmentKey: 'WEB_TOKEN', prefix: 'Bearer ' }],
        },
      ],
    });
    const { outcome, sink } = await run(agent);
    expect(outcome.error).toBeUndefined();
    expect((await sent('session/new'))[0]?.mcpServers).toEqual([
      {
        name: 'files',
        command: expect.stringMatching(/^\/.*node$/),
        args: ['server.mjs'],
        env: [{ name: 'FILES_ROOT', value: '/srv/files' }],
      },
      {
        type: 'http',
        name: 'web',
        url: 'https://tools.example/mcp',
        headers: [{ name: 'Authorization', value: 'Bearer a-token-for-the-web-server' }],
      },
    ]);
    expect(sink.events[0]?.payload).toMatchObject({ mcpServers: ['files', 'web'] });
    expect(JSON.stringify(sink.events)).not.toContain(environment.WEB_TOKEN);
    expect(provider.missingVariables(agent)).toEqual(['UNSET']);
  });

  it('a tool server of a type that the agent does not take fails the run', async () => {
    const agent = replayed(await plain(), {
      mcpServers: [{ type: 'sse', name: 'old', url: 'https://tools.example/sse', headers: [] }],
    });
    const { outcome } = await run(agent);
    expect(outcome.error).toMatch(/^The agent takes no tool server of the type sse \(old\): /);
    expect(outcome.result?.blockers).toMatchObject([{ code: 'tool-servers-refused' }]);
  });

  it('a handshake may take as long as the agent is configured to', async () => {
    const silent = anAgent({
      provider: 'acp',
      command: process.execPath,
      args: [resolve(__dirname, '../../support/agents/hostile-acp.mjs'), 'silent'],
      handshakeSeconds: 1,
    });
    const { outcome } = await run(silent);
    expect(outcome.error).toMatch(
      /^The agent did not respond to the handshake within 1 seconds: raise handshakeSeconds/,
    );
    expect(await provider.probe(silent)).toMatchObject({
      ok: false,
      diagnostics: [expect.stringMatching(/within 1 s/)],
    });
  });
});
