import { ScheduleNotFoundError } from '@temporalio/client';
import { eventually } from '../../../platform/testing/eventually';
import { attemptsOfStep, finishStep, launchedOfStep } from '../../support/runs/workflow-steps';
import { type Stack, startStack } from '../../support/stack/stack';

const path = '/api/workflows';

describe('workflow runs', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
  });
  afterAll(() => stack.close());

  const agents = [{ id: 'coder', agent: 'elsewhere' }];
  const agent = (id: string, fields: object = {}) => ({
    id,
    type: 'agent',
    agent: 'coder',
    input: `Do ${id}`,
    ...fields,
  });
  const define = (id: string, steps: object[], fields: object = {}) =>
    stack.call.ok('POST', path, { id, name: id, agents, steps, ...fields });
  const begin = (id: string, body: object = {}) => stack.call.ok('POST', `${path}/${id}/runs`, body);
  const read = (id: string) => stack.call.ok('GET', `${path}/runs/${id}`);
  const runWhen = (id: string, expected: object) =>
    eventually(
      async () => {
        const run = await read(id);
        expect(run).toMatchObject(expected);
        return run;
      },
      { withinMs: 60_000 },
    );
  const stepOf = (run: { steps: { stepId: string }[] }, id: string) => run.steps.find(({ stepId }) => stepId === id);

  const attemptsOf = (runId: string, stepId: string) => attemptsOfStep(stack.call, runId, stepId);
  const launched = (runId: string, stepId: string, count = 1) => launchedOfStep(stack.call, { runId, stepId, count });
  const finish = (runId: string, stepId: string, body?: object) => finishStep(stack.call, { runId, stepId }, body);

  it('launch agents, wait for a person, and hand outputs on', async () => {
    await define(
      'gated',
      [
        agent('plan'),
        { id: 'approval', type: 'gate', input: 'Approve {{steps.plan.output}}?' },
        agent('build', { input: 'Build by: {{steps.plan.output}} {{note}}' }),
      ],
      { variables: { note: 'soon' } },
    );
    const run = await begin('gated', { context: { note: 'today' } });
    expect(run).toMatchObject({ status: 'pending', workflowVersion: 1, steps: [{ status: 'pending' }, {}, {}] });
    const { attemptId } = await finish(run.id, 'plan', { status: 'success', summary: 'three walls' });
    expect(await stack.call.ok('GET', `/api/admission/${attemptId}`)).toMatchObject({
      request: { source: 'workflow' },
      workflow: { runId: run.id, stepId: 'plan' },
    });
    const blocked = await runWhen(run.id, { status: 'blocked', currentStep: 'approval' });
    expect(stepOf(blocked, 'approval')).toMatchObject({ status: 'blocked', question: 'Approve three walls?' });
    expect((await stack.call.post(`${path}/runs/${run.id}/steps/build/approve`, {})).status).toBe(409);
    await stack.call.ok('POST', `${path}/runs/${run.id}/steps/approval/approve`, { comment: 'Go.' });
    const [build] = await launched(run.id, 'build');
    const task = await stack.call.ok('GET', `/api/tasks/${build!.taskId}`);
    expect(task.description).toContain('Build by: three walls today');
    const drawn = await fetch(`${stack.url}${path}/runs/${run.id}/graph`);
    expect(drawn.headers.get('content-type')).toContain('image/svg+xml');
    expect(await drawn.text()).toContain('#bfdbfe');
    await finish(run.id, 'build');
    const done = await runWhen(run.id, { status: 'completed', error: null });
    expect(done.steps).toMatchObject([
      { status: 'completed', output: 'three walls' },
      { status: 'completed', output: 'Go.' },
      { status: 'completed', output: 'build done' },
    ]);
    expect(await stack.call.ok('GET', `${path}/runs/${run.id}/steps/plan/status`)).toMatchObject({ visits: 1 });
    expect(await stack.call.ok('GET', `${path}/runs?workflowId=gated`)).toMatchObject([{ id: run.id }]);
  });

  it('fail at a rejected gate and are resumed there, with nothing done twice', async () => {
    await define('rejected', [agent('first'), { id: 'gate', type: 'gate' }]);
    const run = await begin('rejected');
    await finish(run.id, 'first');
    await runWhen(run.id, { status: 'blocked' });
    await stack.call.ok('POST', `${path}/runs/${run.id}/steps/gate/reject`, {});
    await runWhen(run.id, { status: 'failed' });
    expect((await stack.call.post(`${path}/runs/${run.id}/steps/gate/approve`, {})).status).toBe(409);
    const resumed = await stack.call.ok('POST', `${path}/runs/${run.id}/resume`, {});
    expect(resumed).toMatchObject({ resumedFrom: run.id, context: { first_output: 'first done' } });
    await runWhen(resumed.id, { status: 'blocked', currentStep: 'gate' });
    expect(await attemptsOf(resumed.id, 'first')).toEqual([]);
    await stack.call.ok('POST', `${path}/runs/${resumed.id}/steps/gate/approve`, {});
    await runWhen(resumed.id, { status: 'completed' });
    expect((await stack.call.post(`${path}/runs/${resumed.id}/resume`, {})).status).toBe(409);
  });

  it('have outputs by a schema, which an agent repairs once, and parts of them are values', async () => {
    const schema = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] };
    await define(
      'by-schema',
      [
        agent('plan', { output: { schema: 'scored' } }),
        agent('next', { input: 'Score {{steps.plan.output.score}}', condition: 'steps.plan.output.score > 2' }),
      ],
      { schemas: { scored: schema } },
    );
    const complete = ({ taskId, attemptId }: { taskId: string; attemptId: string }, summary: string) =>
      stack.call.ok('POST', `/api/agents/${taskId}/complete`, { attemptId, status: 'success', summary });
    const repairOf = async (runId: string, first: { taskId: string }) => {
      const all = await launched(runId, 'plan', 2);
      return all.find(({ taskId }) => taskId !== first.taskId)!;
    };
    const run = await begin('by-schema');
    const [first] = await launched(run.id, 'plan');
    expect((await stack.call.ok('GET', `/api/tasks/${first!.taskId}`)).description).toContain('"required":["score"]');
    await complete(first!, '{"score": "three"}');
    const repair = await repairOf(run.id, first!);
    const { description } = await stack.call.ok('GET', `/api/tasks/${repair.taskId}`);
    expect(description).toContain('/score must be number');
    expect(description).toContain('{"score": "three"}');
    await complete(repair, '```json\n{"score": 3}\n```');
    const [next] = await launched(run.id, 'next');
    expect((await stack.call.ok('GET', `/api/tasks/${next!.taskId}`)).description).toContain('Score 3');
    await finish(run.id, 'next');
    const done = await runWhen(run.id, { status: 'completed' });
    expect(stepOf(done, 'plan')).toMatchObject({ status: 'completed', retries: 1, output: { score: 3 } });

    const failing = await begin('by-schema');
    const [once] = await launched(failing.id, 'plan');
    // Deeper than a store takes.
    await complete(once!, `{"score": 3, "more": ${'['.repeat(2_000)}${']'.repeat(2_000)}}`);
    const again = await repairOf(failing.id, once!);
    expect((await stack.call.ok('GET', `/api/tasks/${again.taskId}`)).description).toContain(
      'more than 64 levels deep',
    );
    await complete(again, '{}');
    await runWhen(failing.id, {
      status: 'failed',
      error: expect.stringMatching(/^Its summary does not fit the schema of the step: .*required property 'score'/),
    });
  });

  it('stop the other branches once one has succeeded, or has failed', async () => {
    const branches = [
      { id: 'one', agent: 'coder', input: 'One' },
      { id: 'two', agent: 'coder', input: 'Two' },
    ];
    for (const [id, parallel, end, expected] of [
      ['any', { completion: 'any' }, { status: 'success', summary: 'first' }, { status: 'completed' }],
      [
        'fast',
        { fail_fast: true },
        { status: 'failed', summary: 'no', error: 'no way' },
        { status: 'failed', error: 'no way' },
      ],
    ] as const) {
      await define(`join-${id}`, [{ id: 'both', type: 'parallel', parallel: { steps: branches, ...parallel } }]);
      const run = await begin(`join-${id}`);
      const [two] = await launched(run.id, 'two');
      await finish(run.id, 'one', end);
      const done = await runWhen(run.id, expected);
      expect(stepOf(done, 'two')).toMatchObject({ status: id === 'any' ? 'skipped' : 'failed', error: null });
      await eventually(async () =>
        expect(await stack.call.ok('GET', `/api/agents/${two!.taskId}/attempts/${two!.attemptId}`)).toMatchObject({
          state: 'ended',
        }),
      );
    }
  });

  it('run branches at the same time, loop over a list, and take another way after a failure', async () => {
    const steps = [
      {
        id: 'both',
        type: 'parallel',
        parallel: {
          steps: [
            { id: 'left', agent: 'coder', input: 'L' },
            { id: 'right', agent: 'coder', input: 'R' },
          ],
        },
      },
      {
        id: 'each',
        type: 'loop',
        agent: 'coder',
        input: 'Build {{item}}',
        loop: { over: 'parts', continue_on_error: true },
      },
      agent('last', { on_fail: { escalate_to: 'human' } }),
    ];
    await define('shapes', steps, { variables: { parts: ['a', 'b'] } });
    const run = await begin('shapes');
    await launched(run.id, 'left');
    await launched(run.id, 'right');
    await finish(run.id, 'left');
    await finish(run.id, 'right');
    const [one] = await launched(run.id, 'each');
    await stack.call.ok('POST', `/api/agents/${one!.taskId}/complete`, {
      attemptId: one!.attemptId,
      status: 'failed',
      summary: 'No a.',
      error: 'no a',
    });
    const both = await launched(run.id, 'each', 2);
    const two = both.find(({ attemptId }) => attemptId !== one!.attemptId)!;
    await stack.call.ok('POST', `/api/agents/${two.taskId}/complete`, {
      attemptId: two.attemptId,
      status: 'success',
      summary: 'b',
    });
    await finish(run.id, 'last', { status: 'failed', summary: 'Broken.', error: 'broken' });
    await runWhen(run.id, { status: 'blocked', currentStep: 'last' });
    await stack.call.ok('POST', `${path}/runs/${run.id}/steps/last/approve`, {});
    const done = await runWhen(run.id, { status: 'completed' });
    expect(stepOf(done, 'each')).toMatchObject({ visits: 2, status: 'completed', output: 'b' });
  });

  it('fail with the summary of an agent that has reported no error', async () => {
    await define('stuck', [agent('only')]);
    const run = await begin('stuck');
    await finish(run.id, 'only', { status: 'blocked', summary: 'There is no wall.' });
    const error = 'blocked: There is no wall.';
    const { steps } = await runWhen(run.id, { status: 'failed', error });
    expect(steps).toMatchObject([{ status: 'failed', error, output: 'There is no wall.' }]);
  });

  it('are cancelled with the agents of their steps', async () => {
    await define('cancelled', [agent('long')]);
    const run = await begin('cancelled');
    const [attempt] = await launched(run.id, 'long');
    await stack.call.ok('POST', `${path}/runs/${run.id}/cancel`);
    await runWhen(run.id, { status: 'cancelled' });
    await eventually(async () => {
      const { attempts } = await stack.call.ok('GET', `/api/agents/${attempt!.taskId}/attempts`);
      expect(attempts).toMatchObject([{ state: 'ended' }]);
    });
    expect((await stack.call.post(`${path}/runs/${run.id}/cancel`)).status).toBe(409);
  });

  it('are started by the Schedule of their workflow, once at a time', async () => {
    const schedule = { cron: '0 9 * * *', timezone: 'Europe/Berlin' };
    await define('timed', [{ id: 'gate', type: 'gate' }], { schedule });
    const handle = stack.temporal.schedule.getHandle('scheduled-workflow/timed');
    expect((await handle.describe()).spec).toMatchObject({ timezone: 'Europe/Berlin' });
    await handle.trigger();
    const [run] = await eventually(async () => {
      const runs = await stack.call.ok('GET', `${path}/runs?workflowId=timed`);
      expect(runs).toMatchObject([{ status: 'blocked' }]);
      return runs;
    });
    await handle.trigger();
    const last = await eventually(async () => {
      const { recentActions } = (await handle.describe()).info;
      expect(recentActions).toHaveLength(2);
      return recentActions[1]!.action.workflow;
    });
    expect(await stack.temporal.workflow.getHandle(last.workflowId).result()).toBe('skipped: a run has not ended');
    await stack.call.ok('POST', `${path}/runs/${run.id}/steps/gate/approve`, {});
    const never = await stack.call.post(path, {
      ...{ id: 'never', name: 'Never', agents, steps: [{ id: 'gate', type: 'gate' }] },
      schedule: { cron: '0 0 30 2 *' },
    });
    expect(never).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'schedule.cron' }] } } });
    await stack.call.ok('DELETE', `${path}/timed`);
    await expect(handle.describe()).rejects.toThrow(ScheduleNotFoundError);
  });

  it('work on the task of the run where a step has no input', async () => {
    await define('on-task', [agent('work', { input: undefined })]);
    const refused = await stack.call.post(`${path}/on-task/runs`, {});
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'taskId' }] } } });
    const { id: taskId } = await stack.call.createTask({ title: 'Mine', agent: 'elsewhere' });
    const run = await begin('on-task', { taskId });
    const { attempts } = await eventually(async () => {
      const answer = await stack.call.ok('GET', `/api/agents/${taskId}/attempts`);
      expect(answer.attempts).toHaveLength(1);
      return answer;
    });
    await stack.call.ok('POST', `/api/agents/${taskId}/complete`, {
      attemptId: attempts[0].id,
      status: 'success',
      summary: 'ok',
    });
    await runWhen(run.id, { status: 'completed', taskId });
  });

  it('wait where a launch is not admitted now, and launch again', async () => {
    await define('busy', [agent('work', { input: undefined })]);
    const { id: taskId } = await stack.call.createTask({ title: 'Busy', agent: 'elsewhere' });
    const { attemptId } = await stack.call.start(taskId);
    const run = await begin('busy', { taskId });
    const refused = () => stack.call.ok('GET', `/api/agents/${taskId}/attempts?state=refused`);
    await eventually(async () => expect((await refused()).attempts.length).toBeGreaterThan(1));
    expect(await read(run.id)).toMatchObject({ status: 'running', currentStep: 'work' });
    const success = { status: 'success', summary: 'ok' };
    await stack.call.ok('POST', `/api/agents/${taskId}/complete`, { attemptId, ...success });
    const second = await eventually(
      async () => {
        const { attempts } = await stack.call.ok('GET', `/api/agents/${taskId}/attempts?state=running`);
        expect(attempts).toHaveLength(1);
        return attempts[0].id as string;
      },
      { withinMs: 60_000 },
    );
    await stack.call.ok('POST', `/api/agents/${taskId}/complete`, { attemptId: second, ...success });
    await runWhen(run.id, { status: 'completed' });
  });
});
