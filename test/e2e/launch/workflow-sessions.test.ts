import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const path = '/api/workflows';
const session = { mode: 'continue' };

describe('sessions of workflow runs', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('rememberer'),
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });
  afterAll(() => stack.close());

  const agents = [
    { id: 'writer', agent: 'rememberer' },
    { id: 'forgetful', agent: 'elsewhere' },
  ];
  const agent = (id: string, fields: object = {}) => ({ id, type: 'agent', agent: 'writer', input: id, ...fields });

  async function begin(id: string, steps: object[], body: object = {}) {
    await stack.call.ok('POST', path, { id, name: id, agents, steps });
    return stack.call.ok('POST', `${path}/${id}/runs`, body);
  }
  const aTask = () => stack.call.createTask({ title: 'x', description: 'x', git: { repo: 'sample' } });
  const runWhen = (id: string, expected: object) =>
    eventually(
      async () => {
        const run = await stack.call.ok('GET', `${path}/runs/${id}`);
        expect(run).toMatchObject(expected);
        return run;
      },
      { withinMs: 60_000 },
    );
  /** The attempts of a task, the first one first. */
  async function attemptsOf(taskId: string) {
    const { attempts } = await stack.call.ok('GET', `/api/agents/${taskId}/attempts`);
    return attempts.toReversed();
  }

  it('continue with the one that the agent of the step has left last, on its task', async () => {
    const { id: taskId } = await aTask();
    const run = await begin(
      'continued',
      [
        agent('plan', { input: undefined }),
        agent('build', { session, input: 'Build by: {{steps.plan.output}}' }),
        agent('other', { session: { mode: 'fresh' } }),
        agent('loop', {
          ...{ type: 'loop', session, input: 'Improve' },
          loop: { completion: 'steps.loop.output contains lost', max_iterations: 2 },
        }),
      ],
      { taskId },
    );
    const done = await runWhen(run.id, { status: 'failed' });
    expect(done.steps).toMatchObject([
      { output: 'new' },
      { output: 'follow-up of thread-7: Build by: new' },
      { output: 'new' },
      { output: 'follow-up of thread-7: Improve', visits: 2 },
    ]);
    const [plan, build, ...more] = await attemptsOf(taskId);
    expect(more).toEqual([]);
    expect(build).toMatchObject({
      parentAttemptId: plan.id,
      conversation: { edge: 'follow-up', sourceAttemptId: plan.id },
    });
    expect(await stack.call.ok('GET', `/api/admission/${build.id}`)).toMatchObject({
      request: { source: 'workflow' },
      workflow: { runId: run.id, stepId: 'build' },
    });
    const { tasks } = await stack.call.ok('GET', '/api/tasks?limit=500');
    const ofOther = tasks.find(({ title }: { title: string }) => title === 'continued: other');
    const [other, first, second] = await attemptsOf(ofOther.id);
    expect([first.conversation.sourceAttemptId, second.conversation.sourceAttemptId]).toEqual([other.id, first.id]);
  });

  it('fail the step where the agent has left none', async () => {
    const run = await begin('forgotten', [
      agent('plan', { agent: 'forgetful' }),
      agent('build', { agent: 'forgetful', session }),
    ]);
    const { attemptId, taskId } = await eventually(async () => {
      const { tasks } = await stack.call.ok('GET', '/api/tasks?limit=500');
      const task = tasks.find(({ title }: { title: string }) => title === 'forgotten: plan');
      const [attempt] = await attemptsOf(task.id);
      return { attemptId: attempt.id, taskId: task.id };
    });
    const end = { attemptId, status: 'success', summary: 'planned' };
    await eventually(() => stack.call.ok('POST', `/api/agents/${taskId}/complete`, end));
    await runWhen(run.id, {
      status: 'failed',
      error: 'No earlier step has left a session of this agent that can be continued.',
    });
  });

  it('are continued by a run that resumes a failed one', async () => {
    const { id: taskId } = await aTask();
    const steps = [agent('plan', { input: undefined }), { id: 'gate', type: 'gate' }, agent('build', { session })];
    const run = await begin('resumed', steps, { taskId });
    await runWhen(run.id, { status: 'blocked' });
    await stack.call.ok('POST', `${path}/runs/${run.id}/steps/gate/reject`, {});
    await runWhen(run.id, { status: 'failed' });
    const { id } = await stack.call.ok('POST', `${path}/runs/${run.id}/resume`, {});
    await runWhen(id, { status: 'blocked' });
    await stack.call.ok('POST', `${path}/runs/${id}/steps/gate/approve`, {});
    const done = await runWhen(id, { status: 'completed' });
    expect(done.steps.at(-1)).toMatchObject({ output: 'follow-up of thread-7: build' });
  });
});
