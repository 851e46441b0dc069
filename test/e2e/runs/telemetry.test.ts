import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('as-told'),
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback', model: 'far' },
  ]);
});

afterAll(() => stack.close());

const events = (taskId: string) => stack.call.ok('GET', `/api/telemetry/events/task/${taskId}?limit=1000`);

async function run(reported: object, task?: { id: string }) {
  const description = JSON.stringify(reported);
  const { id } =
    task ?? (await stack.call.createTask({ title: 'Told', description, project: 'shop', git: { repo: 'sample' } }));
  await stack.call.start(id, { agent: 'as-told' });
  return { id, status: await stack.call.ended(id) };
}

const tokens = { type: 'tokens', inputTokens: 10, outputTokens: 5 };

test('a run reports its start, its end and what it used of each model, and its cost is the task’s', async () => {
  const say = [
    { ...tokens, model: 'small', cost: 0.1 },
    { ...tokens, model: 'small', cost: 0.2, cacheTokens: 7 },
    { ...tokens, model: 'large', cost: 1.5 },
    { ...tokens, inputTokens: -4 },
  ];
  const { id, status } = await run({ say, result: { status: 'success', summary: 'done' } });
  const found = await events(id);
  const about = { taskId: id, attemptId: status.attemptId, agent: 'as-told', project: 'shop' };
  expect(found).toHaveLength(4);
  expect(found).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'run.started', ...about, timestamp: status.attempt.startedAt }),
      expect.objectContaining({ type: 'run.completed', ...about, success: true, status: 'success' }),
      expect.objectContaining({
        type: 'run.tokens',
        ...about,
        ...{ model: 'small', inputTokens: 20, outputTokens: 10, cacheTokens: 7, cost: 0.3 },
      }),
      expect.objectContaining({ type: 'run.tokens', model: 'large', cost: 1.5 }),
    ]),
  );
  expect(status.attempt.usage).toEqual({ inputTokens: 30, outputTokens: 15, cacheTokens: 7, cost: 1.8 });
  expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({ actualCost: 1.8 });

  const again = await run({}, { id });
  expect(again.status.attemptId).not.toBe(status.attemptId);
  expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({ actualCost: 3.6 });
});

test('a run reports its start while its agent works', async () => {
  const description = JSON.stringify({ stays: true });
  const { id } = await stack.call.createTask({ title: 'Stays', description, git: { repo: 'sample' } });
  const { attemptId } = await stack.call.start(id, { agent: 'as-told' });
  await eventually(async () => expect(await events(id)).toHaveLength(1), { withinMs: 20_000 });
  const { state, attempt } = await stack.call.status(id);
  expect(state).toBe('running');
  expect(await events(id)).toMatchObject([{ type: 'run.started', attemptId, timestamp: attempt.startedAt }]);
  await stack.call.ok('POST', `/api/agents/${id}/stop`, { attemptId });
  await stack.call.ended(id);
  const types = (await events(id)).map(({ type }: { type: string }) => type);
  expect(types.sort()).toEqual(['run.completed', 'run.started']);
});

test('a launch that was refused reports nothing', async () => {
  const task = await stack.call.createTask({ title: 'Refused', git: { repo: 'sample', baseBranch: 'nope' } });
  expect((await stack.call.post(`/api/agents/${task.id}/start`)).status).toBe(409);
  expect(await events(task.id)).toEqual([]);
});

describe('token reports', () => {
  const launched = async () => {
    const task = await stack.call.createTask({ title: 'Far away' });
    const { attemptId } = await stack.call.start(task.id, { agent: 'elsewhere' });
    const report = (body: object, headers?: Record<string, string>) =>
      stack.call.post(
        `/api/agents/${task.id}/tokens`,
        { attemptId, inputTokens: 10, outputTokens: 5, ...body },
        headers,
      );
    const complete = () =>
      stack.call.ok('POST', `/api/agents/${task.id}/complete`, { attemptId, success: true, summary: 'done' });
    return { id: task.id as string, attemptId: attemptId as string, report, complete };
  };

  test('are counted for exactly their attempt, and settled with its end', async () => {
    const { id, attemptId, report, complete } = await launched();
    const first = await report({ cost: 0.5 });
    expect(first).toMatchObject({ status: 201, body: { recorded: true, totalTokens: 15 } });
    expect(await report({ model: 'other', totalTokens: 40, agent: 'elsewhere' })).toMatchObject({
      status: 201,
      body: { totalTokens: 40 },
    });
    await complete();
    const status = await stack.call.ended(id);
    expect(status.attempt.usage).toMatchObject({ inputTokens: 20, outputTokens: 10, cost: 0.5 });
    const counted = (await events(id)).filter(({ type }: { type: string }) => type === 'run.tokens');
    expect(counted.map(({ model }: { model: string }) => model).sort()).toEqual(['far', 'other']);
    expect(counted.map(({ id: eventId }: { id: string }) => eventId)).toContain(first.body.eventId);
    const seen = await stack.call.events(id, attemptId);
    expect(seen.filter(({ kind }) => kind === 'usage.updated')).toHaveLength(2);
    expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({ actualCost: 0.5 });
    expect(await report({})).toMatchObject({ status: 409, body: { code: 'RUN_ENDED' } });
  });

  test('under one key are one report', async () => {
    const { id, report, complete } = await launched();
    const key = { 'x-idempotency-key': 'usage-of-turn-1' };
    const answers = await Promise.all([report({}, key), report({}, key), report({}, key)]);
    expect(new Set(answers.map(({ body }) => body.eventId)).size).toBe(1);
    const { eventId } = answers[0].body;
    const reused = { status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED', details: { eventId } } };
    expect(await report({ inputTokens: 11 }, key)).toMatchObject(reused);
    expect(await report({ cost: 1 }, key)).toMatchObject(reused);
    await complete();
    expect((await stack.call.ended(id)).attempt.usage).toMatchObject({ inputTokens: 10 });
    expect(await report({}, key)).toMatchObject({ status: 201, body: { ...answers[0].body, replayed: true } });
    expect(await report({ inputTokens: 11 }, key)).toMatchObject(reused);
    const another = { 'x-idempotency-key': 'usage-of-turn-2' };
    expect(await report({}, another)).toMatchObject({ status: 409, body: { code: 'RUN_ENDED' } });
  });

  test('never fall back to another attempt', async () => {
    const { id, attemptId, report, complete } = await launched();
    const other = await launched();
    expect((await report({ attemptId: other.attemptId })).status).toBe(404);
    expect((await report({ attemptId: 'attempt_00000000' })).status).toBe(404);
    expect((await report({ attemptId: undefined })).status).toBe(400);
    expect(await report({ agent: 'as-told' })).toMatchObject({ status: 409, body: { code: 'AGENT_MISMATCH' } });
    expect((await report({ inputTokens: -1 })).status).toBe(400);
    expect(await report({ totalTokens: 14 })).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'totalTokens' }] } },
    });
    expect((await stack.call.events(id, attemptId)).map(({ kind }) => kind)).not.toContain('usage.updated');
    await complete();
    await other.complete();
  });
});

describe('the log of an attempt', () => {
  const read = async (path: string) => {
    const response = await fetch(`${stack.url}${path}`);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  test('is markdown of its contract and its events, in pages', async () => {
    const say = [
      { type: 'progress', message: 'Reading' },
      { type: 'message', text: 'two\n```lines' },
    ];
    const { id, status } = await run({ say, result: { status: 'success', summary: 'done' } });
    const path = `/api/agents/${id}/attempts/${status.attemptId}/log`;
    const whole = await read(path);
    expect(whole.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(whole.headers.get('x-has-more')).toBe('false');
    for (const part of [
      `# Run ${status.attemptId}`,
      status.runLaunchManifest.digest,
      '`Reading`',
      '````',
      'run.completed',
    ]) {
      expect(whole.text).toContain(part);
    }

    let text = '';
    for (let after = 0, more = true; more;) {
      const page = await read(`${path}?afterSequence=${after}&limit=2`);
      text += page.text;
      after = Number(page.headers.get('x-next-sequence'));
      more = page.headers.get('x-has-more') === 'true';
    }
    expect(text).toBe(whole.text);
  });

  test('is of exactly one attempt, and its range is checked', async () => {
    const { id, status } = await run({ result: { status: 'success', summary: 'done' } });
    const other = await stack.call.createTask({ title: 'Other' });
    expect((await read(`/api/agents/${other.id}/attempts/${status.attemptId}/log`)).status).toBe(404);
    expect((await read(`/api/agents/${id}/attempts/attempt_00000000/log`)).status).toBe(404);
    expect((await read(`/api/agents/${id}/attempts/${status.attemptId}/log?limit=5001`)).status).toBe(400);
    expect((await read(`/api/agents/${id}/attempts/${status.attemptId}/log?afterSequence=-1`)).status).toBe(400);
  });
});
