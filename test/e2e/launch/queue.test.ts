import { runtimeManifest } from '../../../domain/capabilities';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('launch queue', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_MAX_RUNS: '2' });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('worker-bee'),
      { ...scriptAgent('worker-bee', '600', '100'), type: 'long-bee' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });

  afterAll(() => stack.close());

  const aTask = () => stack.call.createTask({ title: 'Wait for it', git: { repo: 'sample' } });
  const stop = (taskId: string, attemptId: string) =>
    stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });

  /** Fills both slots with runs that last. */
  async function fill() {
    const tasks = [await aTask(), await aTask()];
    const runs = [];
    for (const { id } of tasks) {
      runs.push(await stack.call.start(id, { agent: 'long-bee' }));
    }
    return runs;
  }

  test('beyond the limit a launch is queued, and runs when a slot is free', async () => {
    const [first, second] = await fill();
    const task = await aTask();
    const queued = await stack.call.start(task.id);
    expect(queued).toMatchObject({
      status: 'queued',
      queueId: expect.any(String),
      retryAfterMs: expect.any(Number),
      limitingScopes: [{ scope: 'global' }],
    });
    expect(await stack.call.status(task.id)).toMatchObject({ state: 'queued', running: false });
    expect(await stack.call.ok('GET', `/api/tasks/${task.id}`)).toMatchObject({ status: 'todo' });

    await stop(first.taskId, first.attemptId);
    const { attempt } = await stack.call.ended(task.id);
    expect(attempt.completion.status).toBe('success');
    const events = await stack.call.events(task.id, queued.attemptId);
    expect(events.slice(0, 2).map(({ kind }) => kind)).toEqual(['run.queued', 'run.started']);
    await stop(second.taskId, second.attemptId);
  });

  test('a queued launch can be stopped and never runs', async () => {
    const runs = await fill();
    const task = await aTask();
    const { attemptId } = await stack.call.start(task.id);
    expect(await stop(task.id, attemptId)).toMatchObject({ status: 'interrupted' });
    for (const run of runs) {
      await stop(run.taskId, run.attemptId);
    }
    const { attempt } = await stack.call.ended(task.id);
    expect(attempt.completion).toMatchObject({ status: 'interrupted', harness: { ended: 'not-dispatched' } });
    const kinds = (await stack.call.events(task.id, attemptId)).map(({ kind }) => kind);
    expect(kinds).toEqual(['run.queued', 'run.interrupted']);
  });

  test('the limit holds at every instant while many are launched at once, and all of them end', async () => {
    const tasks = await Promise.all(Array.from({ length: 8 }, aTask));
    const launches = await Promise.all(tasks.map(({ id }) => stack.call.start(id)));
    expect(launches.filter(({ status }) => status === 'queued').length).toBeGreaterThanOrEqual(1);
    const intervals = [];
    for (const { taskId, attemptId } of launches) {
      const { attempt } = await stack.call.ended(taskId);
      expect(attempt.completion.status).toBe('success');
      const events = await stack.call.events(taskId, attemptId);
      const at = (kind: string) => Date.parse(events.find((event) => event.kind === kind).receivedAt);
      intervals.push({ from: at('run.started'), to: at('run.completed') });
    }
    for (const { from } of intervals) {
      expect(intervals.filter((other) => other.from <= from && from < other.to).length).toBeLessThanOrEqual(2);
    }
    await eventually(async () => {
      const scheduler = await stack.temporal.workflow.getHandle('admission/scheduler').describe();
      expect(scheduler.status.name).toBe('COMPLETED');
    });
  });

  test('a queued launch keeps what its route and its profile made of its agent', async () => {
    const profile = { name: 'Large', agent: 'worker-bee', model: 'large' };
    await stack.call.ok('PUT', '/api/config/profiles/large', profile);
    const { body: routing } = await stack.call.get('/api/agents/routing');
    const rule = { id: 'docs', name: 'Docs', match: { type: 'docs' }, agent: 'elsewhere', model: 'small' };
    await stack.call.ok('PUT', '/api/agents/routing', { ...routing, rules: [rule] });
    const manifest = runtimeManifest(
      'remote-callback',
      { ok: true, diagnostics: [] },
      { probedAt: new Date().toISOString(), model: 'small' },
    );
    const registration = { id: 'far', name: 'Far', provider: 'remote-callback', providerRuntimeManifest: manifest };
    await stack.call.ok('POST', '/api/agents/register', registration);

    const runs = await fill();
    const profiled = await aTask();
    const routed = await stack.call.createTask({ title: 'Far away', type: 'docs' });
    expect(await stack.call.start(profiled.id, { profileId: 'large' })).toMatchObject({ status: 'queued' });
    expect(await stack.call.start(routed.id)).toMatchObject({ status: 'queued', agent: 'elsewhere' });
    for (const run of runs) {
      await stop(run.taskId, run.attemptId);
    }
    expect((await stack.call.ended(profiled.id)).attempt.completion.status).toBe('success');
    const running = await eventually(async () => {
      const status = await stack.call.status(routed.id);
      expect(status.state).toBe('running');
      return status;
    });
    expect(running.runLaunchManifest.runtime.model).toBe('small');
    await stop(routed.id, running.attemptId);
  });
});
