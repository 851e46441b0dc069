import { eventually } from '../../../platform/testing/eventually';
import { type Answer, scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository } from '../../support/git/repository';
import { exampleAgent, writableSessions } from '../../support/runs/example-agent';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    exampleAgent(stack.dir),
    { ...exampleAgent(stack.dir, '--client-tools'), type: 'confined' },
    scriptAgent('rememberer'),
    scriptAgent('worker-bee'),
    { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
  ]);
});

afterAll(() => stack.close());

async function anEnded(agent: string, description = 'say first') {
  const task = await stack.call.createTask({ title: agent, description, git: { repo: 'sample' } });
  const { attemptId } = await stack.call.start(task.id, { agent });
  const status = await stack.call.ended(task.id);
  const continueConversation = (edge: string, body: object, headers?: Record<string, string>) =>
    stack.call.post(`/api/agents/${task.id}/conversation/${edge}`, { sourceAttemptId: attemptId, ...body }, headers);
  return { taskId: task.id as string, attemptId: attemptId as string, status, continueConversation };
}

test('a run of an agent that speaks the protocol is launched, reported and completed like any other', async () => {
  const { status, taskId, attemptId, continueConversation } = await anEnded(
    'scripted',
    '- [ ] write a.md: hello\nsay Done.',
  );
  expect(status.attempt.completion).toMatchObject({
    status: 'success',
    terminalSource: 'stream',
    summary: 'Done.',
    harness: { changedFiles: [{ path: 'a.md', status: 'untracked' }] },
    claims: { continuation: { provider: 'acp', kind: 'session' } },
  });
  expect(status.providerRuntimeManifest).toMatchObject({ provider: 'acp', providerVersion: 'example-acp-agent 1.0.0' });
  const control = (action: string) => status.controls.controls.find((row: { action: string }) => row.action === action);
  expect(control('resume')).toMatchObject({ state: 'supported', available: true });
  expect(control('fork')).toMatchObject({ state: 'supported', available: true });
  expect(control('compact')).toMatchObject({ state: 'unsupported', available: false });
  expect(await continueConversation('fork', { message: 'x', forkTurnId: 'turn-1' })).toMatchObject({
    status: 400,
    body: { details: { issues: [{ path: 'forkTurnId' }] } },
  });
  const events = await stack.call.events(taskId, attemptId);
  expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['conversation.started', 'file.changed']));
});

test('a run is steered in the middle of its turn', async () => {
  const task = await stack.call.createTask({ title: 'x', description: 'wait 60000', git: { repo: 'sample' } });
  const { attemptId } = await stack.call.start(task.id, { agent: 'scripted' });
  const steered = await stack.call.ok('POST', `/api/agents/${task.id}/conversation/steer`, {
    attemptId,
    message: 'say Steered.',
  });
  expect(steered).toMatchObject({ delivered: true });
  expect((await stack.call.ended(task.id)).attempt.completion).toMatchObject({
    status: 'success',
    summary: 'Steered.',
  });
});

test.each([
  ['follow-up', 'conversation.followed-up'],
  ['resume', 'conversation.resumed'],
  ['fork', 'conversation.forked'],
])('%s is a new attempt that continues with the session of the source', async (edge, kind) => {
  const { taskId, attemptId, continueConversation } = await anEnded('scripted');
  const launched = await continueConversation(edge, { message: 'recall' });
  expect(launched).toMatchObject({ status: 201, body: { status: 'running', agent: 'scripted' } });
  expect(launched.body.attemptId).not.toBe(attemptId);
  const { attempt } = await eventually(async () => {
    const status = await stack.call.status(taskId);
    expect(status).toMatchObject({ attemptId: launched.body.attemptId, state: 'ended' });
    return status;
  });
  expect(attempt).toMatchObject({
    parentAttemptId: attemptId,
    conversation: { edge, sourceAttemptId: attemptId },
    completion: { status: 'success', summary: expect.stringMatching(/^I was told 2 times: .*say first/s) },
  });
  const events = await stack.call.events(taskId, launched.body.attemptId);
  expect(events.map((event) => event.kind)).toContain(kind);
});

test('an agent of the process protocol receives what it continues with', async () => {
  const { taskId, continueConversation } = await anEnded('rememberer');
  const { body } = await continueConversation('follow-up', { message: 'and now?' });
  await eventually(async () => {
    const { attempt, attemptId } = await stack.call.status(taskId);
    expect(attemptId).toBe(body.attemptId);
    expect(attempt.completion).toMatchObject({ summary: 'follow-up of thread-7: and now?' });
  });
});

test('the same idempotency key is the same attempt; another message under it is refused', async () => {
  const { taskId, continueConversation } = await anEnded('rememberer');
  const key = { 'x-idempotency-key': `go-on-${taskId}` };
  const [first, second] = await Promise.all([
    continueConversation('follow-up', { message: 'once' }, key),
    continueConversation('follow-up', { message: 'once' }, key),
  ]);
  expect(first.status).toBe(201);
  const { replayed: _first, ...launched } = first.body;
  const { replayed: _second, ...launchedBySecond } = second.body;
  expect(launchedBySecond).toEqual(launched);
  await stack.call.ended(taskId);
  const third = await continueConversation('follow-up', { message: 'once' }, key);
  expect(third.body).toEqual({ ...launched, replayed: true });
  expect(await continueConversation('follow-up', { message: 'twice' }, key)).toMatchObject({
    status: 409,
    body: { code: 'IDEMPOTENCY_KEY_REUSED' },
  });
});

test('what cannot be resumed is refused, with the reason', async () => {
  const { continueConversation } = await anEnded('worker-bee');
  expect(await continueConversation('follow-up', { message: 'x' })).toMatchObject({
    status: 409,
    body: { code: 'NO_PROVIDER_IDENTITY' },
  });
  expect(await continueConversation('fork', { message: 'x', forkTurnId: 'turn-1' })).toMatchObject({
    status: 409,
    body: { code: 'CAPABILITY_UNSUPPORTED', details: { action: 'fork', capabilityId: 'run.fork' } },
  });
  expect(await continueConversation('follow-up', { message: 'x', forkTurnId: 'turn-1' })).toMatchObject({
    status: 400,
  });
  expect(await continueConversation('follow-up', { message: 'x'.repeat(20_001) })).toMatchObject({ status: 400 });
  expect(
    await continueConversation('follow-up', { message: 'x', sourceAttemptId: 'attempt_nobody0000' }),
  ).toMatchObject({
    status: 404,
  });
});

test('an attempt that continues is steered, not followed up', async () => {
  const task = await stack.call.createTask({ title: 'x', git: { repo: 'sample' } });
  const { attemptId } = await stack.call.start(task.id, { agent: 'long-bee' });
  const answer = await stack.call.post(`/api/agents/${task.id}/conversation/follow-up`, {
    sourceAttemptId: attemptId,
    message: 'x',
  });
  expect(answer).toMatchObject({ status: 409, body: { code: 'SOURCE_NOT_TERMINAL' } });
  await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
});

describe('comments on lines', () => {
  async function aReviewed(agent: string) {
    const ended = await anEnded(agent);
    const path = `/api/diff/${ended.taskId}/comments`;
    return {
      ...ended,
      comment: (body: string) => stack.call.ok('POST', path, { path: 'a.ts', line: 7, excerpt: 'let a', body }),
      send: (body: object = {}, headers?: Record<string, string>) =>
        stack.call.post(`${path}/send`, { sourceAttemptId: ended.attemptId, ...body }, headers),
      list: (state: string) => stack.call.ok('GET', `${path}?state=${state}`),
    };
  }

  test('are sent to the agent as one follow-up, however often it is requested', async () => {
    const { taskId, attemptId, comment, send, list } = await aReviewed('rememberer');
    expect(await send()).toMatchObject({ status: 409, body: { code: 'NO_OPEN_LINE_COMMENTS' } });
    const [first, second, third] = [await comment('Why?'), await comment('And this?'), await comment('Later')];
    const key = { 'x-idempotency-key': `review-${taskId}` };
    const review = { commentIds: [first.id, second.id], message: 'Please.' };
    const answers = await Promise.all([send(review, key), send(review, key)]);
    const launched = answers[0];
    expect(launched).toMatchObject({ status: 201, body: { launch: { status: 'running' } } });
    const sent = { attemptId: launched.body.launch.attemptId, by: expect.any(String) };
    expect(launched.body.comments).toMatchObject([
      { id: first.id, state: 'sent', sent },
      { id: second.id, state: 'sent', sent },
    ]);
    // Either one may be the first; what it launched is the same.
    const unmarked = ({ launch: { replayed: _mark, ...launch }, ...body }: Answer['body']) => ({ ...body, launch });
    expect(unmarked(answers[1].body)).toEqual(unmarked(launched.body));
    expect(await list('open')).toMatchObject([{ id: third.id }]);
    await eventually(async () => {
      const status = await stack.call.status(taskId);
      expect(status).toMatchObject({ attemptId: sent.attemptId, state: 'ended' });
      expect(status.attempt).toMatchObject({ conversation: { sourceAttemptId: attemptId } });
      expect(status.attempt.completion.summary).toMatch(
        /^follow-up of thread-7: Please\.[^]*1\. a\.ts:7\n {3}> let a\n {3}Why\?/,
      );
    });
    const again = await send(review, key);
    expect(unmarked(again.body)).toEqual(unmarked(launched.body));
    expect(again.body.launch.replayed).toBe(true);
    expect(await send({ commentIds: [first.id] }, key)).toMatchObject({ body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    expect(await send({ commentIds: [first.id] })).toMatchObject({ body: { code: 'LINE_COMMENT_NOT_OPEN' } });
  });

  test('stay open when the follow-up is refused', async () => {
    const { comment, send, list } = await aReviewed('worker-bee');
    const { id } = await comment('Why?');
    expect(await send()).toMatchObject({ status: 409, body: { code: 'NO_PROVIDER_IDENTITY' } });
    for (let n = 0; n < 4; n += 1) {
      await comment('long '.repeat(999));
    }
    expect(await send()).toMatchObject({ status: 409, body: { code: 'LINE_COMMENTS_TOO_LONG' } });
    expect(await list('open')).toHaveLength(5);
    expect(await list('open')).toMatchObject([{ id, revision: 1 }, {}, {}, {}, {}]);
  });
});

describe('a watcher', () => {
  const off = { enabled: false, globalKillSwitch: true, defaultMode: 'ask_always' };
  const on = { enabled: true, globalKillSwitch: false, defaultMode: 'auto', maxContinuationsPerRun: 3, spendCapUsd: 5 };
  const limits = (runs: number | null) => ({ admission: { limits: { provider: { runs } } } });
  const settings = (features: object) => changeFeatures(stack.call, features);
  beforeEach(() => settings({ watcher: on }));
  afterAll(() => settings({ watcher: off, ...limits(null) }));

  const untilEnded = (taskId: string, attemptId: string) =>
    eventually(async () => {
      const attempt = await stack.call.ok('GET', `/api/agents/${taskId}/attempts/${attemptId}`);
      expect(attempt.state).toBe('ended');
      return attempt;
    });
  const refused = (code: string, decided: object = {}) => ({
    status: 409,
    body: { code, details: { traceId: expect.any(String), ...decided } },
  });

  test('continues with a run as its policy allows, as often as it allows, in whatever order it asks', async () => {
    const { taskId, attemptId, continueConversation } = await anEnded('rememberer');
    await settings({ watcher: { ...on, maxContinuationsPerRun: 2 } });
    const key = { 'x-idempotency-key': `watch-${taskId}` };
    const first = await continueConversation('continue', { message: 'and now?' }, key);
    expect(first).toMatchObject({ status: 201, body: { status: 'running' } });
    expect(await untilEnded(taskId, first.body.attemptId)).toMatchObject({
      parentAttemptId: attemptId,
      completion: { summary: 'follow-up of thread-7: and now?' },
    });
    expect(await stack.call.ok('GET', `/api/admission/${first.body.attemptId}`)).toMatchObject({
      request: { source: 'watcher' },
      tree: { edge: 'follow-up', parentNodeId: attemptId, depth: 1 },
    });
    // Beside the first and not after it: it is the same run that is continued.
    const second = await continueConversation('continue', { message: 'or so?' });
    expect(second.status).toBe(201);
    await untilEnded(taskId, second.body.attemptId);
    for (const sourceAttemptId of [attemptId, first.body.attemptId, second.body.attemptId]) {
      expect(await continueConversation('continue', { message: 'more', sourceAttemptId })).toMatchObject(
        refused('CONTINUATION_BLOCKED', { decision: 'blocked', caps: { maxContinuations: 2 } }),
      );
    }
    // A person may continue nevertheless, and a repeated request is no further one.
    const again = await continueConversation('continue', { message: 'and now?' }, key);
    expect(again.body).toEqual({ ...first.body, replayed: true });
    const person = await continueConversation('follow-up', { message: 'and now?' });
    expect(person.status).toBe(201);
    await untilEnded(taskId, person.body.attemptId);
  });

  test('waits for a person where its policy reports it, and does nothing while it is off', async () => {
    const { attemptId, continueConversation } = await anEnded('rememberer');
    const words = 'then rm -rf build';
    expect(await continueConversation('continue', { message: words })).toMatchObject(
      refused('CONTINUATION_NEEDS_APPROVAL', {
        decision: 'approval',
        riskClasses: ['destructive_command'],
        next: { method: 'POST', path: expect.stringMatching(/\/conversation\/follow-up$/) },
      }),
    );
    await settings({ watcher: { defaultMode: 'ask_always' } });
    expect(await continueConversation('continue', { message: 'x' })).toMatchObject(
      refused('CONTINUATION_NEEDS_APPROVAL'),
    );
    await settings({ watcher: { globalKillSwitch: true } });
    expect(await continueConversation('continue', { message: 'x' })).toMatchObject(refused('CONTINUATION_BLOCKED'));
    const { entries } = await stack.call.ok('GET', `/api/audit?action=watcher-policy.evaluate&resource=${attemptId}`);
    expect(entries.map(({ details }: { details: { decision: string } }) => details.decision).toSorted()).toEqual([
      'approval',
      'approval',
      'blocked',
    ]);
    expect(JSON.stringify(entries)).not.toContain('build');
  });

  test('is refused under a policy that denies a continuation, which binds no follow-up of a person', async () => {
    const { taskId, continueConversation } = await anEnded('rememberer');
    const rules = [{ action: 'continuation', effect: 'deny' }];
    const { id: policy } = await stack.call.ok('POST', '/api/policies', { name: 'No watchers', rules });
    const answer = await continueConversation('continue', { message: 'x' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'POLICY_BLOCKED', details: { policy } } });
    const person = await continueConversation('follow-up', { message: 'x' });
    expect(person.status).toBe(201);
    await untilEnded(taskId, person.body.attemptId);
    await stack.call.ok('DELETE', `/api/policies/${policy}`);
  });

  test('evaluates what the stores have: the cost of this month and failed tests', async () => {
    const { taskId, attemptId, continueConversation } = await anEnded('rememberer');
    await stack.call.ok('POST', '/api/telemetry/events', {
      type: 'run.tokens',
      taskId,
      attemptId,
      agent: 'rememberer',
      model: 'large',
      inputTokens: 1,
      outputTokens: 1,
      cost: 7.25,
    });
    const answer = await continueConversation('continue', { message: 'x' });
    expect(answer).toMatchObject(refused('CONTINUATION_BLOCKED', { riskClasses: ['policy_violation'] }));
    expect(answer.body.message).toMatch(/^The spend of this month is 7\.\d+ USD; the cap is 5/);
  });

  test('that waits in the queue ends there when the kill switch is turned on', async () => {
    const { taskId, continueConversation } = await anEnded('rememberer');
    await settings({ watcher: { spendCapUsd: 1_000 } });
    const busy = await stack.call.createTask({ title: 'x', git: { repo: 'sample' } });
    const { attemptId: holder } = await stack.call.start(busy.id, { agent: 'long-bee' });
    await settings(limits(1));
    const launched = await eventually(async () => {
      const answer = await continueConversation('continue', { message: 'and now?' });
      expect(answer.body).toMatchObject({ status: 'queued' });
      return answer.body;
    });
    await settings({ watcher: { globalKillSwitch: true } });
    await stack.call.ok('POST', `/api/agents/${busy.id}/stop`, { attemptId: holder });
    await eventually(async () => {
      const entry = await stack.call.ok('GET', `/api/admission/queue/${launched.attemptId}`);
      expect(entry).toMatchObject({ entry: { state: 'terminal', outcome: { code: 'CONTINUATION_BLOCKED' } } });
    });
    await untilEnded(taskId, launched.attemptId);
    const kinds = (await stack.call.events(taskId, launched.attemptId)).map(({ kind }) => kind);
    expect(kinds).not.toContain('run.started');
  });
});

describe('what a launch asks to be enforced of an agent that speaks the protocol', () => {
  const launch = async (agent: string, description: string, body: object) => {
    const task = await stack.call.createTask({ title: agent, description, git: { repo: 'sample' } });
    const path = `/api/agents/${task.id}`;
    return {
      task,
      body: { agent, ...body },
      preview: await stack.call.post(`${path}/launch-preview`, { agent, ...body }),
    };
  };

  beforeAll(async () => {
    for (const agent of ['scripted', 'confined']) {
      await stack.call.ok('PUT', `/api/config/profiles/readers-${agent}`, {
        name: agent,
        agent,
        restrictions: { tools: { denied: ['write', 'execute'] } },
      });
    }
    const writePaths = await writableSessions(stack.dir);
    for (const preset of [
      { id: 'no-secrets', name: 'No secrets', filesystem: { deniedPaths: ['secrets'], writePaths } },
      { id: 'own-handles', name: 'Own handles', filesystem: { localOnlyHandles: true } },
    ]) {
      await stack.call.ok('POST', '/api/sandbox-policies', preset);
    }
  });

  test.each([
    ['a profile', { profileId: 'readers-scripted' }, 'restriction-unenforceable:tools'],
    ['a preset', { sandboxPresetId: 'own-handles' }, 'sandbox-unenforced:filesystem.localOnlyHandles'],
  ])('is refused in the preview when the agent does not show that it holds: %s', async (_what, body, code) => {
    const { preview } = await launch('scripted', 'say Nothing.', body);
    expect(preview).toMatchObject({
      status: 409,
      body: { details: { blockers: expect.arrayContaining([expect.objectContaining({ code })]) } },
    });
  });

  test.each([
    ['a profile', { profileId: 'readers-confined' }, 'write a.md: x', /The profile denies the tool write/],
    ['a preset', { sandboxPresetId: 'no-secrets' }, 'write secrets/a: x', /The sandbox preset denies secrets.a/],
  ])('is enforced by us when it does: %s', async (_what, body, script, refusal) => {
    const { task, preview, body: request } = await launch('confined', script, body);
    expect(preview).toMatchObject({ status: 200, body: { manifest: { enforcement: { enforceable: true } } } });
    await stack.call.start(task.id, request);
    const { attempt, attemptId } = await stack.call.ended(task.id);
    expect(attempt.completion.error).toBeUndefined();
    expect(attempt.completion).toMatchObject({
      summary: expect.stringMatching(refusal),
      harness: { changedFiles: [] },
    });
    const events = await stack.call.events(task.id, attemptId);
    expect(events).toContainEqual(
      expect.objectContaining({ payload: expect.objectContaining({ name: 'fs/write_text_file', status: 'refused' }) }),
    );
  });
});
