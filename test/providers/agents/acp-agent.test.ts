import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { findByEnvironment, isSameProcess, type ProcessIdentity } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import type { AgentDispatch, LiveAgent } from '../../../providers/agents/provider';
import { anAgent } from '../../support/factories/agent';
import { aDispatch, RecordingSink } from './agent-fixture';

const provider = createAcpProvider();
const never = new AbortController().signal;
let directory: TempDir;

beforeEach(async () => {
  directory = await makeTempDir('acp');
});
afterEach(() => directory.remove());

class LiveSink extends RecordingSink {
  agent: LiveAgent | undefined;

  override async started(process: ProcessIdentity, agent?: LiveAgent): Promise<void> {
    await super.started(process);
    this.agent = agent;
  }

  async live(): Promise<LiveAgent> {
    return eventually(() => this.agent ?? Promise.reject(new Error('not started')));
  }

  texts(kind = 'message.assistant'): unknown[] {
    return this.events.filter((event) => event.kind === kind).map(({ payload }) => payload.text);
  }
}

const agentAt = (file: string, args: string[], fields: Partial<AgentConfig> = {}) =>
  anAgent({ type: 'acp', name: 'ACP', provider: 'acp', command: process.execPath, args: [file, ...args], ...fields });
const example = (fields: Partial<AgentConfig> = {}) =>
  agentAt(
    resolve(__dirname, '../../../examples/acp-agent/agent.mjs'),
    ['--state', `${directory.path}/sessions`],
    fields,
  );
const hostile = (how: string) => agentAt(resolve(__dirname, '../../support/agents/hostile-acp.mjs'), [how]);

const transport = (description: string, sections: object[] = []) => ({
  envelope: {
    objective: { title: 'Scripted', description, subtasks: [] },
    commitPolicy: 'allowed',
    phase: 'implement',
    expectedOutputs: [],
    workspace: null,
  },
  sections,
});

const dispatchOf = (agent: AgentConfig, description: string, changes: Partial<AgentDispatch> = {}) =>
  aDispatch(directory, '', { agent, transport: transport(description), ...changes });

describe('an agent that speaks the Agent Client Protocol', () => {
  it('works in its worktree, reports what it does, and its last message is the result', async () => {
    const dispatch = await dispatchOf(example(), '- [ ] write notes/a.md: hello\nsay All of it is done.');
    const sink = new LiveSink();
    const outcome = await provider.run(dispatch, sink, never);

    expect(await readFile(join(dispatch.worktreePath, 'notes/a.md'), 'utf8')).toBe('hello\n');
    expect(outcome).toMatchObject({
      ended: 'exit',
      judgedBy: 'session',
      result: {
        status: 'success',
        summary: 'All of it is done.',
        continuation: { provider: 'acp', kind: 'session', reference: expect.any(String) },
      },
    });
    expect(sink.kinds()).toEqual([
      'conversation.started',
      'tool.started',
      'file.changed',
      'tool.completed',
      'message.assistant',
    ]);
    const { sessionId } = sink.events[0]!;
    expect(sink.events.every((event) => event.sessionId === sessionId)).toBe(true);
    expect(outcome.result?.continuation?.reference).toBe(sessionId);
    expect(await isSameProcess(sink.process!)).toBe(false);
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId)).toEqual([]);
  });

  it('continues with the session of an earlier run', async () => {
    const first = await provider.run(await dispatchOf(example(), 'say first'), new LiveSink(), never);
    const sink = new LiveSink();
    const dispatch = await aDispatch(directory, '', {
      agent: example(),
      transport: transport('ignored', [{ id: 'conversation-message', title: 'Message', source: 'jo', text: 'recall' }]),
      conversation: { edge: 'follow-up', continuation: first.result!.continuation! },
    });
    const outcome = await provider.run(dispatch, sink, never);
    expect(outcome.result?.summary).toMatch(/^I was told 2 times: .*say first.* \/ recall$/s);
    expect(sink.kinds()).toEqual(['conversation.followed-up', 'message.assistant']);
  });

  it('reports that a session it no longer has cannot be resumed', async () => {
    const dispatch = await aDispatch(directory, '', {
      agent: example(),
      transport: transport('', [{ id: 'conversation-message', title: 'Message', source: 'jo', text: 'recall' }]),
      conversation: {
        edge: 'resume',
        continuation: { provider: 'acp', kind: 'session', reference: '00000000-0000-0000-0000-000000000000' },
      },
    });
    const outcome = await provider.run(dispatch, new LiveSink(), never);
    expect(outcome).toMatchObject({ judgedBy: 'session', result: { status: 'failed' }, error: expect.any(String) });
  });

  it.each([
    ['reject', 'no'],
    ['allow', 'yes'],
  ] as const)('asks for permissions, which its configuration answers: %s', async (permissions, optionId) => {
    const sink = new LiveSink();
    await provider.run(await dispatchOf(example({ permissions }), 'ask run the tests'), sink, never);
    expect(sink.kinds()).toEqual([
      'conversation.started',
      'approval.requested',
      'approval.resolved',
      'message.assistant',
    ]);
    expect(sink.events[1]?.payload).toMatchObject({ title: 'run the tests', toolKind: 'execute' });
    expect(sink.events[2]?.payload).toEqual({ outcome: 'selected', optionId, decidedBy: `policy:${permissions}` });
    expect(sink.texts()).toEqual([`The answer was ${optionId}.`]);
  });

  it('withdraws a permission request without a decision when its turn is cancelled', async () => {
    const patient = createAcpProvider({ deciderOf: () => ({ decide: () => new Promise(() => undefined) }) });
    const sink = new LiveSink();
    const run = patient.run(await dispatchOf(example(), 'ask may I'), sink, never);
    await eventually(() => expect(sink.kinds()).toContain('approval.requested'));
    await (await sink.live()).command({ type: 'interrupt' });
    expect(await run).toMatchObject({ result: { status: 'interrupted' } });
    expect(sink.events.find(({ kind }) => kind === 'approval.resolved')?.payload).toEqual({
      outcome: 'cancelled',
      decidedBy: 'cancelled',
    });
  });

  it('is steered: the turn ends and the message begins the next one', async () => {
    const sink = new LiveSink();
    const run = provider.run(await dispatchOf(example(), 'say one\nwait 60000\nsay never'), sink, never);
    // Its words are published although it continues to wait.
    await eventually(() => expect(sink.texts('message.delta')).toEqual(['one']));
    const agent = await sink.live();
    expect(await agent.command({ type: 'steer', message: 'say two\nwait 60000' })).toEqual({ delivered: true });
    await eventually(() => expect(sink.texts('message.delta')).toEqual(['one', 'two']));
    expect(await agent.command({ type: 'message', message: 'say three' })).toEqual({ delivered: true });
    expect(await run).toMatchObject({ result: { status: 'success', summary: 'three' } });
    expect(sink.texts()).toEqual(['one', 'two', 'three']);
    expect(await agent.command({ type: 'steer', message: 'late' })).toEqual({
      delivered: false,
      reason: 'agent-ended',
    });
  });

  it('is interrupted, and can be resumed', async () => {
    const sink = new LiveSink();
    const run = provider.run(await dispatchOf(example(), 'say one\nwait 60000'), sink, never);
    await eventually(() => expect(sink.kinds()).toContain('conversation.started'));
    expect(await (await sink.live()).command({ type: 'interrupt' })).toEqual({ delivered: true });
    const { result } = await run;
    expect(result).toMatchObject({ status: 'interrupted', continuation: { kind: 'session' } });
  });

  it('closes its session, after which nothing is left of it', async () => {
    const sink = new LiveSink();
    const run = provider.run(await dispatchOf(example(), 'wait 60000'), sink, never);
    await eventually(() => expect(sink.kinds()).toContain('conversation.started'));
    expect(await (await sink.live()).command({ type: 'close' })).toEqual({ delivered: true });
    const { result } = await run;
    expect(result).toMatchObject({ status: 'interrupted', summary: 'The conversation was closed by an operator.' });
    const { error } = await provider.run(
      await aDispatch(directory, '', {
        agent: example(),
        transport: transport('', [{ id: 'conversation-message', title: 'M', source: 'jo', text: 'recall' }]),
        conversation: { edge: 'resume', continuation: result!.continuation! },
      }),
      new LiveSink(),
      never,
    );
    expect(error).toBeDefined();
  });

  const after = async (edge: 'fork' | 'resume', reference: string, forkTurnId?: string) => {
    const sink = new LiveSink();
    const dispatch = await aDispatch(directory, '', {
      agent: example(),
      transport: transport('', [{ id: 'conversation-message', title: 'M', source: 'jo', text: 'recall' }]),
      conversation: {
        edge,
        continuation: { provider: 'acp', kind: 'session', reference },
        ...(forkTurnId === undefined ? {} : { forkTurnId }),
      },
    });
    return { sink, outcome: await provider.run(dispatch, sink, never) };
  };

  it('forks a session at its end: the new one has the conversation, the old one is as it was', async () => {
    const first = await provider.run(await dispatchOf(example(), 'say first'), new LiveSink(), never);
    const { reference } = first.result!.continuation!;
    const { sink, outcome } = await after('fork', reference);
    expect(outcome.result?.summary).toMatch(/^I was told 2 times: .*say first/s);
    expect(sink.kinds()[0]).toBe('conversation.forked');
    expect(outcome.result?.continuation?.reference).not.toBe(reference);
    expect((await after('resume', reference)).outcome.result?.summary).toMatch(/^I was told 2 times/);
    expect((await after('fork', reference, 'turn-1')).outcome.error).toBe(
      'The agent can fork a session only at its end.',
    );
  });

  it('archives its session, from where it is restored when it is resumed', async () => {
    const sink = new LiveSink();
    const run = provider.run(await dispatchOf(example(), 'wait 60000'), sink, never);
    await eventually(() => expect(sink.kinds()).toContain('conversation.started'));
    expect(await (await sink.live()).command({ type: 'archive' })).toEqual({ delivered: true });
    const { result } = await run;
    expect(result).toMatchObject({ status: 'interrupted', summary: 'The conversation was archived by an operator.' });
    expect((await after('resume', result!.continuation!.reference)).outcome.result?.summary).toMatch(/^I was told 2/);
  });

  it('has no compact', async () => {
    const sink = new LiveSink();
    const run = provider.run(await dispatchOf(example(), 'wait 60000'), sink, never);
    await eventually(() => expect(sink.kinds()).toContain('conversation.started'));
    const agent = await sink.live();
    expect(await agent.command({ type: 'compact' })).toEqual({ delivered: false, reason: 'not-supported' });
    await agent.command({ type: 'interrupt' });
    await run;
  });

  it('is stopped: its turn is cancelled, and it is gone', async () => {
    const stop = new AbortController();
    const sink = new LiveSink();
    const dispatch = await dispatchOf(example(), 'wait 60000');
    const run = provider.run(dispatch, sink, stop.signal);
    await eventually(() => expect(sink.kinds()).toContain('conversation.started'));
    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped' });
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId)).toEqual([]);
  });
});

describe('an agent that misuses the protocol', () => {
  const run = async (how: string, changes: Partial<AgentDispatch> = {}, stop = never) => {
    const sink = new LiveSink();
    const dispatch = await dispatchOf(hostile(how), 'work', changes);
    const outcome = await provider.run(dispatch, sink, stop);
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId)).toEqual([]);
    return { outcome, sink };
  };

  it('may send anything else: it is stored as output, and its requests are refused', async () => {
    const { outcome, sink } = await run('garbage');
    expect(outcome.result).toMatchObject({ status: 'success' });
    expect(sink.kinds()).toEqual(expect.arrayContaining(['stream.stdout', 'provider.unknown']));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('may send messages that are too deep or too much: each is refused and reported, and the session continues', async () => {
    const { outcome, sink } = await run('deep');
    expect(outcome.result).toMatchObject({ status: 'success', summary: 'deep -32600 options cancelled' });
    expect(outcome.output.refusedLines).toBe(4);
    const problems = sink.events.flatMap(({ payload: { problem } }) => (typeof problem === 'string' ? [problem] : []));
    expect(problems).toEqual([
      'It is nested more than 64 levels deep.',
      'It is nested more than 64 levels deep.',
      'It has a field with the name __proto__.',
      'It offers more than 32 options.',
    ]);
  });

  it('has failed when its answer is one that is not read', async () => {
    const { outcome } = await run('deep-answer');
    expect(outcome.result?.status).toBe('failed');
    expect(outcome.error).toContain('nested more than 64 levels deep');
  });

  it('has failed when it ends before its turn does', async () => {
    const { outcome } = await run('dies');
    expect(outcome).toMatchObject({ result: { status: 'failed' }, error: expect.stringContaining('ended before') });
  });

  it('has failed with its last words when it ends before its turn does and prints the cause', async () => {
    const { outcome } = await run('dies-with-reason');
    expect(outcome.error).toMatch(/^The agent .* Its last words: Error: The license has expired\./);
  });

  it('has failed in the words of the API of its model', async () => {
    expect((await run('model-error')).outcome.error).toBe('API key not valid');
  });

  it('is answered that a file does not exist with an error of its own', async () => {
    const { outcome } = await run('missing');
    expect(outcome.result?.summary).toBe('-32002 nothing.txt does not exist.');
  });

  it('has failed when it answers with an error, whose secrets are hidden', async () => {
    const { outcome } = await run('error');
    expect(outcome).toMatchObject({ result: { status: 'failed' }, error: expect.stringContaining('Log in first') });
    expect(outcome.error).not.toContain('sk-abc');
  });

  it('has failed when it speaks another version', async () => {
    expect((await run('old')).outcome).toMatchObject({
      result: { status: 'failed' },
      error: expect.stringContaining('version 0'),
    });
  });

  it('has failed when it sends a message larger than may be', async () => {
    const { outcome, sink } = await run('huge');
    expect(outcome).toMatchObject({ result: { status: 'failed' }, error: expect.stringContaining('more than') });
    expect(sink.kinds()).toContain('provider.unknown');
  });

  it('does not flood watchers: what is over the limit is counted and dropped', async () => {
    const { outcome, sink } = await run('flood', { outputLimitBytes: 100_000 });
    expect(outcome).toMatchObject({ result: { status: 'success' }, output: { truncated: true } });
    expect(outcome.output.bytes).toBeGreaterThan(10_000_000);
    expect(sink.events.length).toBeLessThan(400);
  });

  it('is held back when it asks without reading the answers, and ended when its time is over', async () => {
    const { outcome } = await run('asks', { timeoutMs: 3_000 });
    expect(outcome).toMatchObject({ ended: 'timeout' });
    expect(outcome.output.bytes).toBeLessThan(10_000_000);
  });

  it('is ended when its time is over, also when it receives nothing', async () => {
    expect((await run('deaf', { timeoutMs: 1_500 })).outcome).toMatchObject({ ended: 'timeout' });
  });

  it('is ended when it stays after its session', async () => {
    const { outcome } = await run('ends');
    expect(outcome).toMatchObject({
      ended: 'exit',
      judgedBy: 'session',
      result: { status: 'partial', summary: expect.stringContaining('done') },
    });
  });
});

describe('the probe', () => {
  it('is a handshake that shows what the agent can do', async () => {
    expect(await provider.probe(example())).toMatchObject({
      ok: true,
      version: 'example-acp-agent 1.0.0',
      capabilities: ['run.resume', 'run.follow-up', 'run.close', 'run.fork', 'run.archive'],
    });
  });

  it.each(['old'])('fails for an agent that does not do its part: %s', async (how) => {
    expect(await provider.probe(hostile(how))).toMatchObject({ ok: false, diagnostics: [expect.any(String)] });
  });

  it('fails for a program that speaks something else', async () => {
    expect(await provider.probe({ ...hostile(''), command: '/bin/true', args: [] })).toMatchObject({ ok: false });
  });
});
