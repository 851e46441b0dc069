import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { budgetScope } from '../../../contracts/settings/budget';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let agents = 0;
const noLimit = { tokens: null, costUsd: null };
const unlimited = Object.fromEntries(budgetScope.options.map((scope) => [scope, noLimit]));

/** Changes the budgets, and waits until every process has to have read them. */
const budgets = async (budget: object) => {
  await changeFeatures(stack.call, { budget });
};

/** An agent of its own for each test: what it used in others does not count. */
const anAgent = async () => {
  agents += 1;
  const type = `spender-${agents}`;
  const far = { type: `far-${agents}`, name: 'Far', provider: 'remote-callback' };
  await stack.call.configureAgents([{ ...scriptAgent('as-told'), type }, far]);
  return { near: type, far: far.type };
};
const aTask = (fields: object = {}) => stack.call.createTask({ title: 'Spend', ...fields });
const launched: { taskId: string; attemptId: string }[] = [];
const launch = async (taskId: string, body: object) => {
  const answer = await stack.call.post(`/api/agents/${taskId}/start`, body);
  launched.push(...(answer.status < 400 ? [answer.body] : []));
  return answer;
};
const start = async (taskId: string, body: object) => {
  const started = await stack.call.start(taskId, body);
  launched.push(started);
  return started;
};
const report = ({ taskId, attemptId }: { taskId: string; attemptId: string }, inputTokens: number, cost = 0) =>
  stack.call.post(`/api/agents/${taskId}/tokens`, { attemptId, inputTokens, outputTokens: 0, cost });
const metrics = (query = '') => stack.call.ok('GET', `/api/metrics/budget${query}`);

/** A run elsewhere that is at work. */
const atWork = async (taskId: string, body: object) => {
  const started = await start(taskId, body);
  await eventually(async () => expect((await stack.call.status(taskId)).state).toBe('running'));
  return started as { taskId: string; attemptId: string };
};

describe('budgets', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_MAX_RUNS: '12' });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
  });
  afterAll(() => stack.close());
  afterEach(async () => {
    for (const { taskId, attemptId } of launched.splice(0)) {
      await stack.call.post(`/api/agents/${taskId}/stop`, { attemptId });
    }
  });
  beforeEach(() => budgets({ enabled: true, reservePerRun: { tokens: 0, costUsd: 0 }, limits: unlimited }));

  it.each(budgetScope.options)('of its %s end the run that uses it up, and launch nothing more', async (scope) => {
    const { far } = await anAgent();
    const project = `project-${agents}`;
    const { id } = await aTask({ project });
    const run = await atWork(id, { agent: far });
    const scopeId = { workspace: 'workspace', project, agent: far, task: id, tree: run.attemptId }[scope];
    const before = scope === 'workspace' ? (await metrics()).tokens.used : 0;
    await budgets({ limits: { [scope]: { tokens: before + 100 } } });

    expect((await report(run, 79)).status).toBe(201);
    expect((await report(run, 20)).status).toBe(201);
    expect((await stack.call.status(id)).state).toBe('running');
    expect((await report(run, 1)).status).toBe(201);
    const ended = await stack.call.ended(id);
    expect(ended.attempt.completion).toMatchObject({
      status: 'blocked',
      summary: expect.stringContaining(`${before + 100} of ${before + 100} tokens are used`),
      blockers: [{ code: 'BUDGET_EXHAUSTED', retryable: false }],
    });
    expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({
      status: 'blocked',
      attempt: { cause: expect.stringContaining('is used up') },
    });

    const about = { code: 'ADMISSION_BUDGET_EXHAUSTED', details: { scope, scopeId, budget: 'tokens' } };
    const again = scope === 'tree' ? { agent: far, parentAttemptId: run.attemptId } : { agent: far };
    expect(await launch(id, again)).toMatchObject({
      status: 409,
      body: { ...about, details: { ...about.details, used: before + 100, limit: before + 100, retryable: false } },
    });
    await budgets({ limits: { [scope]: { tokens: before + 200 } } });
    await atWork(id, again);
  });

  it('retains the work of an agent of this host that is ended before its next turn', async () => {
    const { near } = await anAgent();
    await budgets({ limits: { agent: { costUsd: 1 } } });
    const say = [0.5, 0.5].map((cost) => ({ type: 'tokens', inputTokens: 5, outputTokens: 5, cost }));
    const script = { files: { 'work.txt': 'work\n' }, say, stays: true };
    const { id } = await aTask({ description: JSON.stringify(script), git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(id, { agent: near });
    const { attempt } = await stack.call.ended(id);
    expect(attempt.completion).toMatchObject({
      status: 'blocked',
      blockers: [{ code: 'BUDGET_EXHAUSTED', summary: expect.stringContaining('1 of 1 US dollars are used') }],
      changedFiles: [{ path: 'work.txt' }],
    });
    expect(attempt.usage).toMatchObject({ inputTokens: 10, cost: 1 });
    const { path } = await stack.call.ok('GET', `/api/tasks/${id}/worktree`);
    expect(await readFile(join(path, 'work.txt'), 'utf8')).toBe('work\n');
    expect(await metrics(`?agent=${near}`)).toMatchObject({
      costUsd: { limit: 1, used: 1, remaining: 0, percent: 100, status: 'exhausted' },
    });
    // Nothing follows it: a person decides.
    expect(await stack.call.ok('GET', `/api/agents/${id}/recovery`)).toBeNull();
    expect((await stack.call.status(id)).attemptId).toBe(attemptId);
  });

  it('warn once at their threshold: an event, a notification and a trace', async () => {
    const { far } = await anAgent();
    await budgets({ limits: { agent: { tokens: 1_000 } } });
    const { id } = await aTask();
    const run = await atWork(id, { agent: far });
    await report(run, 799);
    const warnings = async () => {
      const events = await stack.call.events(id, run.attemptId);
      const notifications = await stack.call.ok('GET', `/api/notifications?taskId=${id}`);
      const traces = await stack.call.ok(
        'GET',
        `/api/governance/traces?kind=budget-policy&outcome=warned&taskId=${id}`,
      );
      return [
        events.filter(({ payload }) => 'budget' in (payload as object)).length,
        notifications.filter(({ type }: { type: string }) => type === 'budget').length,
        traces.length,
      ];
    };
    expect(await warnings()).toEqual([0, 0, 0]);
    await report(run, 1);
    await report(run, 50);
    expect(await warnings()).toEqual([1, 1, 1]);
    expect((await metrics(`?agent=${far}`)).tokens).toMatchObject({ used: 850, percent: 85, status: 'warning' });

    const other = await aTask();
    const started = await start(other.id, { agent: far });
    expect(started.warnings).toEqual([expect.stringContaining('850 of 1000 tokens are used')]);
  });

  it('admit of ten launches at once only as many as their reservations leave room for', async () => {
    const { far } = await anAgent();
    await budgets({ reservePerRun: { tokens: 100 }, limits: { agent: { tokens: 250 } } });
    const tasks = await Promise.all(Array.from({ length: 10 }, () => aTask()));
    const answers = await Promise.all(tasks.map(({ id }) => launch(id, { agent: far })));
    const admitted = answers.filter(({ status }) => status < 400);
    // The third begins with 200 reserved of 250, the fourth would with 300.
    expect(admitted).toHaveLength(3);
    for (const { body } of answers.filter(({ status }) => status >= 400)) {
      expect(body).toMatchObject({ code: 'ADMISSION_BUDGET_EXHAUSTED', details: { used: 0, retryable: true } });
    }
    expect((await metrics(`?agent=${far}`)).tokens).toMatchObject({ used: 0, reserved: 300, remaining: 0 });
    for (const { body } of admitted) {
      await stack.call.ok('POST', `/api/agents/${body.taskId}/stop`, { attemptId: body.attemptId });
    }
    expect((await metrics(`?agent=${far}`)).tokens).toMatchObject({ reserved: 0, remaining: 250, status: 'ok' });
    const { id } = await aTask();
    await start(id, { agent: far });
  });

  it('limit a launch that waited in the queue when it is its turn', async () => {
    const { far } = await anAgent();
    await changeFeatures(stack.call, { admission: { limits: { provider: { runs: 1 } } } });
    await budgets({ limits: { agent: { tokens: 100 } } });
    const first = await aTask();
    const run = await atWork(first.id, { agent: far });
    const second = await aTask();
    const queued = await start(second.id, { agent: far });
    expect(queued.status).toBe('queued');
    await report(run, 100);
    await stack.call.ended(first.id);
    await eventually(async () => {
      const { entry } = await stack.call.ok('GET', `/api/admission/queue/${queued.queueId}`);
      expect(entry).toMatchObject({ state: 'terminal', outcome: { code: 'ADMISSION_BUDGET_EXHAUSTED' } });
    });
    await changeFeatures(stack.call, { admission: { limits: { provider: { runs: null } } } });
  });

  it('limit follow-ups, and nothing while they are turned off', async () => {
    const { far } = await anAgent();
    await budgets({ limits: { task: { tokens: 10 } } });
    const { id } = await aTask();
    const run = await atWork(id, { agent: far });
    await report(run, 10);
    await stack.call.ended(id);
    const preview = await stack.call.post(`/api/agents/${id}/launch-preview`, { agent: far });
    expect(preview).toMatchObject({ status: 409, body: { code: 'ADMISSION_BUDGET_EXHAUSTED' } });
    await budgets({ enabled: false });
    const again = await atWork(id, { agent: far });
    expect((await report(again, 10)).status).toBe(201);
    await stack.call.ok('POST', `/api/agents/${id}/complete`, {
      attemptId: again.attemptId,
      success: true,
      summary: 'x',
    });
    expect((await stack.call.ended(id)).attempt.completion.status).not.toBe('blocked');
  });
});
