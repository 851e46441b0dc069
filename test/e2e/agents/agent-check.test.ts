import { resolve } from 'node:path';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
const support = resolve(__dirname, '../../support/agents');
const replayed = (type: string, conversation: string) => ({
  type,
  name: type,
  provider: 'acp',
  command: process.execPath,
  args: [resolve(support, 'replay-acp.mjs'), resolve(support, 'conversations', `${conversation}.jsonl`)],
});

beforeAll(async () => {
  stack = await startStack();
  await stack.call.configureAgents([
    replayed('claude', 'claude-session'),
    replayed('locked', 'codex-refused'),
    { ...replayed('gemini', 'gemini-session'), authMethod: 'gemini-api-key' },
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
});
afterAll(() => stack.close());

const check = (type: string, body: object = {}) => stack.call.post(`/api/config/agents/${type}/check`, body);

describe('the check of an agent', () => {
  it('goes as far as a session on a host, whose offer is stored and whose check is audited', async () => {
    const { status, body } = await check('claude');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { agentType: 'claude', hostId: stack.worker.hostId, ok: true, offer: { modes: expect.any(Array) } },
    });
    expect(body.findings.map(({ step }: { step: string }) => step)).toEqual([
      ...['installed', 'version', 'handshake', 'authentication', 'session'],
    ]);
    const { agents } = await stack.call.ok('GET', '/api/config/agent-support');
    const { offer } = agents.find(({ agentType }: { agentType: string }) => agentType === 'claude');
    expect(offer).toEqual({ ...body.offer, observedAt: expect.any(String) });
    const { entries } = await stack.call.ok('GET', '/api/audit?action=agents.check');
    expect(entries).toMatchObject([{ resource: 'claude', details: { ok: true } }]);
  });

  it('names the step that fails and what to do', async () => {
    const { body } = await check('locked', { hostId: stack.worker.hostId });
    expect(body).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([
        expect.objectContaining({ step: 'authentication', status: 'failed', remedy: expect.stringContaining('codex') }),
        expect.objectContaining({ step: 'session', status: 'skipped' }),
      ]),
    });
  });

  it('shows in the support of the agent whether its login was accepted, where the agent has shown it', async () => {
    const logins = async () => {
      const { agents } = await stack.call.ok('GET', '/api/config/agent-support');
      const rows = agents as { agentType: string; authenticated: boolean | null }[];
      return Object.fromEntries(rows.map(({ agentType, authenticated }) => [agentType, authenticated]));
    };
    expect(await logins()).toMatchObject({ gemini: null, elsewhere: null });
    for (const type of ['claude', 'locked', 'gemini']) {
      await check(type);
    }
    expect(await logins()).toEqual({ claude: null, locked: false, gemini: true, elsewhere: null });
  });

  it('is one for callers who ask at once', async () => {
    const [one, other] = await Promise.all([check('claude'), check('claude')]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(other.body.checkedAt).toBe(one.body.checkedAt);
  });

  it.each([
    ['an agent that is not configured', 'absent', {}, 404],
    ['an agent that no host starts', 'elsewhere', {}, 409],
    ['a host that never registered', 'claude', { hostId: 'nowhere' }, 400],
    ['another field', 'claude', { host: 'x' }, 400],
  ])('is refused for %s', async (_name, type, body, status) => {
    expect(await check(type, body)).toMatchObject({ status });
  });
});
