import { join, resolve } from 'node:path';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
const conversation = (name: string) => resolve(__dirname, '../../support/agents/conversations', `${name}.jsonl`);
const replayed = (type: string, name: string, fields: object = {}) => ({
  type,
  name: type,
  provider: 'acp',
  command: process.execPath,
  args: [resolve(__dirname, '../../support/agents/replay-acp.mjs'), conversation(name)],
  ...fields,
});

const docs = { type: 'stdio', name: 'docs', command: '/nowhere/docs-server' };

beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    replayed('codex', 'codex-session', { authMethod: 'api-key', mode: 'agent' }),
    replayed('served', 'codex-session', { authMethod: 'api-key', mode: 'agent', mcpServers: [docs] }),
    replayed('unserved', 'codex-session', {
      authMethod: 'api-key',
      mode: 'agent',
      mcpServers: [{ ...docs, requirement: 'optional' }],
    }),
    replayed('locked', 'codex-refused'),
    { type: 'plain', name: 'Plain', provider: 'process', command: join(stack.dir, 'nothing') },
  ]);
});

afterAll(() => stack.close());

const aTask = () => stack.call.createTask({ title: 'x', git: { repo: 'sample' } });

describe('the model and the mode of a launch', () => {
  it('are those of the session, which lists what the next launches may choose', async () => {
    const task = await aTask();
    const choice = { agent: 'codex', model: 'gpt-6.1-sol[high]', mode: 'read-only' };
    const { manifest } = await stack.call.ok('POST', `/api/agents/${task.id}/launch-preview`, choice);
    expect(manifest.runtime).toMatchObject({ model: choice.model, mode: choice.mode, authMethod: 'api-key' });
    expect(manifest.origins).toEqual(
      expect.arrayContaining([expect.objectContaining({ field: 'mode', scope: 'run', source: 'launch request' })]),
    );
    const { runLaunchManifestDigest } = await stack.call.start(task.id, choice);
    expect(runLaunchManifestDigest).toBe(manifest.digest);
    const { attempt } = await stack.call.ended(task.id);
    expect(attempt.completion).toMatchObject({ claims: {}, summary: 'Hello from the stand-in.' });

    const { agents } = await stack.call.ok('GET', '/api/config/agent-support');
    const { offer } = agents.find(({ agentType }: { agentType: string }) => agentType === 'codex');
    expect(offer).toMatchObject({ model: 'gpt-6.1-sol[high]', observedAt: expect.any(String) });

    const other = await aTask();
    for (const operation of ['start', 'launch-preview']) {
      const { status, body } = await stack.call.post(`/api/agents/${other.id}/${operation}`, {
        agent: 'codex',
        model: 'gpt-1',
      });
      expect({ status, body }).toMatchObject({
        status: 409,
        body: {
          code: 'AGENT_OPTION_NOT_OFFERED',
          details: {
            field: 'model',
            value: 'gpt-1',
            offered: expect.arrayContaining(['gpt-6.1-sol[high]']),
            next: { method: 'POST', path: '/api/config/agents/codex/check' },
          },
        },
      });
    }
  });

  it('are refused for an agent of another provider', async () => {
    const { id } = await aTask();
    for (const field of ['model', 'mode']) {
      const { status, body } = await stack.call.post(`/api/agents/${id}/start`, { agent: 'plain', [field]: 'any' });
      expect({ status, body }).toMatchObject({ status: 409, body: { code: 'RUN_NOT_READY', details: { field } } });
    }
  });
});

describe('an agent that wants a login', () => {
  it('fails once, with its cause and what helps', async () => {
    const { id } = await aTask();
    await stack.call.start(id, { agent: 'locked' });
    const { attempt } = await stack.call.ended(id);
    expect(attempt.completion).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Authentication required: run `codex login` on the host/),
      claims: { blockers: [{ code: 'authentication-required', retryable: false }] },
    });
  });
});

describe('a tool server without its program', () => {
  it('that is required prevents the launch, with its name, program and remedy', async () => {
    const { id } = await aTask();
    for (const operation of ['launch-preview', 'start']) {
      const { status, body } = await stack.call.post(`/api/agents/${id}/${operation}`, { agent: 'served' });
      expect({ status, body }).toMatchObject({
        status: 409,
        body: {
          code: 'HOST_NOT_READY',
          details: {
            findings: [
              {
                code: 'tool-server-program-missing:docs',
                message: expect.stringContaining('docs'),
                program: '/nowhere/docs-server',
                remedy: expect.stringContaining('Install it on the host'),
              },
            ],
            next: { path: '/api/agents/hosts' },
          },
        },
      });
    }
    expect((await stack.call.ok('GET', `/api/tasks/${id}`)).status).toBe('todo');
  });

  it('that is optional is left out, with a warning', async () => {
    const { id } = await aTask();
    const preview = await stack.call.ok('POST', `/api/agents/${id}/launch-preview`, { agent: 'unserved' });
    expect(preview.warnings).toContainEqual(
      expect.objectContaining({ code: 'tool-server-left-out:docs', program: '/nowhere/docs-server' }),
    );
    await stack.call.start(id, { agent: 'unserved', model: 'gpt-6.1-sol[high]', mode: 'read-only' });
    const { attempt } = await stack.call.ended(id);
    expect(attempt.completion).toMatchObject({ summary: 'Hello from the stand-in.' });
    const started = (await stack.call.events(id, attempt.id)).find(({ kind }) => kind === 'conversation.started');
    expect(started?.payload).not.toHaveProperty('mcpServers');
  });
});
