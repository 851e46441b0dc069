import { WorkflowUpdateFailedError } from '@temporalio/client';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { openDatabase } from '../../../stores/port/open';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { agentRunId, commandUpdate } from '../../../workflows/agent-run/messages';
import { type Answer, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('commands to running agents', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('listener'),
      { ...scriptAgent('misbehaving', 'never-ends'), type: 'deaf' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      { type: 'closed', name: 'Closed', provider: 'process', command: 'sh', args: ['-c', 'exec <&-; sleep 60'] },
    ]);
  });

  afterAll(() => stack.close());

  interface Run {
    taskId: string;
    attemptId: string;
    send: (verb: string, body?: object, headers?: Record<string, string>) => Promise<Answer>;
    events: () => Promise<Answer['body'][]>;
    stop: () => Promise<unknown>;
  }

  async function aRun(agent: string): Promise<Run> {
    const task = await stack.call.createTask({ title: agent, git: agent === 'elsewhere' ? {} : { repo: 'sample' } });
    const { attemptId } = await stack.call.start(task.id, { agent });
    const url = (verb: string) => `/api/agents/${task.id}/${verb === 'message' ? verb : `conversation/${verb}`}`;
    return {
      taskId: task.id,
      attemptId,
      send: (verb, body = {}, headers) => stack.call.post(url(verb), { attemptId, ...body }, headers),
      events: () => stack.call.events(task.id, attemptId),
      stop: () => stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId }),
    };
  }

  test('a message and a steer reach the agent in their order, and what it answers is seen', async () => {
    const run = await aRun('listener');
    const [first, second] = [
      await run.send('message', { message: 'one', actor: 'Jo' }),
      await run.send('steer', { message: 'two' }),
    ];
    expect(first).toMatchObject({
      status: 200,
      body: { attemptId: run.attemptId, action: 'message', delivered: true },
    });
    expect(second).toMatchObject({ status: 200, body: { action: 'steer', delivered: true } });
    await run.send('steer', { message: 'finish' });
    const { attempt } = await stack.call.ended(run.taskId);
    expect(attempt.completion).toMatchObject({ status: 'success', summary: 'Finished as told.' });

    const events = await run.events();
    const received = events.filter(({ kind }) => kind === 'message.assistant').map(({ payload }) => payload.text);
    expect(received).toEqual(['heard message one', 'heard steer two', 'heard steer finish']);
    const recorded = events.filter(({ kind }) => ['message.operator', 'conversation.steered'].includes(kind));
    expect(recorded.map(({ kind, payload }) => [kind, payload.message, payload.actor, payload.delivered])).toEqual([
      ['message.operator', 'one', 'Jo', true],
      ['conversation.steered', 'two', expect.any(String), true],
      ['conversation.steered', 'finish', expect.any(String), true],
    ]);
    // The end is recorded last, whatever was being sent when it came.
    expect(events.at(-1).kind).toBe('run.completed');
  });

  test('an interrupt is heeded by an agent that understands it', async () => {
    const run = await aRun('listener');
    expect(await run.send('interrupt')).toMatchObject({ status: 200, body: { action: 'interrupt', delivered: true } });
    const { attempt } = await stack.call.ended(run.taskId);
    expect(attempt.completion).toMatchObject({ status: 'partial', summary: 'Interrupted.' });
    expect((await run.events()).map(({ kind }) => kind)).toContain('conversation.interrupted');
  });

  test('commands that arrive together are each delivered once', async () => {
    const run = await aRun('listener');
    const words = Array.from({ length: 10 }, (_, n) => `word ${n}`);
    const answers = await Promise.all(words.map((message) => run.send('steer', { message })));
    expect(answers.map(({ body }) => body.delivered)).toEqual(words.map(() => true));
    await run.send('interrupt');
    await stack.call.ended(run.taskId);
    const received = (await run.events())
      .filter(({ kind }) => kind === 'message.assistant')
      .map(({ payload }) => payload.text.replace('heard steer ', ''));
    expect(received.slice(0, -1).sort()).toEqual(words);
  });

  test('the same idempotency key is one command; another command under it is refused', async () => {
    const run = await aRun('listener');
    const key = { 'x-idempotency-key': 'say-this-once' };
    const [first, second] = await Promise.all([
      run.send('steer', { message: 'once' }, key),
      run.send('steer', { message: 'once' }, key),
    ]);
    expect(first.body).toMatchObject({ delivered: true });
    // The later one may find the outcome of the other.
    const { replayed: _first, ...outcome } = first.body;
    const { replayed: _second, ...outcomeOfSecond } = second.body;
    expect(outcomeOfSecond).toEqual(outcome);
    const other = await run.send('steer', { message: 'twice' }, key);
    expect(other).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    await run.send('interrupt');
    await stack.call.ended(run.taskId);
    // Also after the end, the outcome is what it was.
    expect((await run.send('steer', { message: 'once' }, key)).body).toEqual({ ...outcome, replayed: true });
    const received = (await run.events()).filter(({ payload }) => payload.text === 'heard steer once');
    expect(received).toHaveLength(1);
  });

  test('an unsupported command is refused with the evidence', async () => {
    const run = await aRun('listener');
    for (const action of ['archive', 'close']) {
      expect(await run.send(action)).toMatchObject({
        status: 409,
        body: {
          code: 'CAPABILITY_UNSUPPORTED',
          details: {
            action,
            capabilityId: `run.${action}`,
            state: 'unsupported',
            reason: expect.any(String),
            remediation: expect.any(String),
          },
        },
      });
    }
    await run.send('interrupt');
  });

  test('a message to an agent elsewhere is only recorded; a steer is refused', async () => {
    const run = await aRun('elsewhere');
    expect(await run.send('message', { message: 'hello' })).toMatchObject({
      status: 200,
      body: { delivered: false, reason: expect.stringContaining('run.steer') },
    });
    expect((await run.events()).at(-1)).toMatchObject({
      kind: 'message.operator',
      payload: { message: 'hello', delivered: false },
    });
    expect(await run.send('steer', { message: 'hello' })).toMatchObject({ status: 409 });
    await run.stop();
  });

  test('an agent that has closed its input is not delivered to', async () => {
    const run = await aRun('closed');
    await eventually(async () => {
      expect((await run.send('message', { message: 'anybody?' })).body).toMatchObject({
        delivered: false,
        reason: 'agent-input-closed',
      });
    });
    await run.stop();
  });

  test.each([
    ['an attempt of another task', { attemptId: 'attempt_nobody0000' }, 404, 'NOT_FOUND'],
    [
      'another provider digest',
      { providerRuntimeManifestDigest: `sha256:${'0'.repeat(64)}` },
      409,
      'MANIFEST_MISMATCH',
    ],
    ['another launch digest', { runLaunchManifestDigest: `sha256:${'0'.repeat(64)}` }, 409, 'MANIFEST_MISMATCH'],
    ['no message', { message: '' }, 400, 'VALIDATION_ERROR'],
    ['too long a message', { message: 'x'.repeat(20_001) }, 400, 'VALIDATION_ERROR'],
    ['an unknown field', { mesage: 'x' }, 400, 'VALIDATION_ERROR'],
  ])('a steer with %s is refused', async (_name, body, status, code) => {
    const run = await aRun('listener');
    expect(await run.send('steer', { message: 'x', ...body })).toMatchObject({ status, body: { code } });
    await run.send('interrupt');
  });

  test('a run that has ended receives no command, nor does the current attempt in its stead', async () => {
    const run = await aRun('listener');
    await run.send('interrupt');
    await stack.call.ended(run.taskId);
    const again = await stack.call.start(run.taskId, { agent: 'listener' });
    expect(await run.send('steer', { message: 'late' })).toMatchObject({ status: 409, body: { code: 'RUN_ENDED' } });
    const next = { method: 'POST', path: `/api/agents/${run.taskId}/conversation/follow-up` };
    expect(await run.send('message', { message: 'late' })).toMatchObject({
      status: 409,
      body: { code: 'RUN_ENDED', details: { next } },
    });
    const events = await stack.call.events(run.taskId, again.attemptId);
    expect(events.filter(({ payload }) => payload.message === 'late')).toEqual([]);
    await stack.call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: again.attemptId });
  });

  test('an operator sends a command as an update of the workflow, with the same checks', async () => {
    const run = await aRun('listener');
    const handle = stack.temporal.workflow.getHandle(agentRunId(run.attemptId));
    const send = (command: object) =>
      handle.executeUpdate(commandUpdate, {
        args: [{ attemptId: run.attemptId, type: 'steer', actor: 'operator', ...command }],
      });
    await eventually(async () => {
      expect(await send({ message: 'from the UI' })).toMatchObject({ delivered: true });
    });
    for (const [command, type] of [
      [{ attemptId: 'attempt_nobody0000', message: 'x' }, 'STALE_ATTEMPT'],
      [{ message: '' }, 'INVALID_COMMAND'],
      [{ type: 'dance' }, 'INVALID_COMMAND'],
      [{ type: 'archive' }, 'CAPABILITY_UNSUPPORTED'],
      [{ message: 'x', runLaunchManifestDigest: 'sha256:0' }, 'MANIFEST_MISMATCH'],
    ] as const) {
      const refused = await send(command).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(WorkflowUpdateFailedError);
      expect(refused).toMatchObject({ cause: { type } });
    }
    await run.send('interrupt');
    await stack.call.ended(run.taskId);
    expect((await run.events()).map(({ payload }) => payload.text)).toContain('heard steer from the UI');
  });

  test('a command that came too early is delivered under its key once the agent runs', async () => {
    const run = await aRun('listener');
    await eventually(async () => expect((await stack.call.status(run.taskId)).state).toBe('running'));
    const log = createLog({ name: 'test', level: 'silent' });
    const { MONGODB_URL: mongoUrl, BOARD_DATA_DIR: dataDir } = stack.env;
    const database = await openDatabase({ mongoUrl, dataDir, log });
    try {
      const attempts = await database.collection<AttemptRecord>({ name: 'attempts', indexes: [] });
      const become = (state: AttemptRecord['state']) =>
        attempts.findOneAndUpdate({ _id: run.attemptId }, { $set: { state } });
      const key = { 'x-idempotency-key': 'too-early' };
      await become('prepared');
      expect(await run.send('steer', { message: 'early' }, key)).toMatchObject({
        status: 409,
        body: { code: 'RUN_NOT_RUNNING' },
      });
      await become('running');
      const sent = await run.send('steer', { message: 'early' }, key);
      expect(sent).toMatchObject({ status: 200, body: { delivered: true } });
      expect((await run.send('steer', { message: 'early' }, key)).body).toEqual({ ...sent.body, replayed: true });
      await run.send('interrupt');
      await stack.call.ended(run.taskId);
      const received = (await run.events()).filter(({ payload }) => payload.text === 'heard steer early');
      expect(received).toHaveLength(1);
    } finally {
      await database.close();
    }
  });

  test('a run that is queued is not running yet', async () => {
    const limited = await startStack({ BOARD_MAX_RUNS: '1' });
    try {
      await limited.call.addRepository('sample', await aRepository(limited.dir));
      await limited.call.configureAgents([scriptAgent('listener')]);
      const [first, second] = [
        await limited.call.createTask({ title: 'First', git: { repo: 'sample' } }),
        await limited.call.createTask({ title: 'Second', git: { repo: 'sample' } }),
      ];
      const running = await limited.call.start(first.id);
      const queued = await limited.call.start(second.id);
      expect(queued.status).toBe('queued');
      const answer = await limited.call.post(`/api/agents/${second.id}/conversation/steer`, {
        attemptId: queued.attemptId,
        message: 'x',
      });
      expect(answer).toMatchObject({ status: 409, body: { code: 'RUN_NOT_RUNNING' } });
      await limited.call.ok('POST', `/api/agents/${second.id}/stop`, { attemptId: queued.attemptId });
      await limited.call.ok('POST', `/api/agents/${first.id}/stop`, { attemptId: running.attemptId });
    } finally {
      await limited.close();
    }
  });
});
