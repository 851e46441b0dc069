import { eventually } from '../../../platform/testing/eventually';
import { finishStep } from '../../support/runs/workflow-steps';
import { type Stack, startStack } from '../../support/stack/stack';

const path = '/api/workflows';

describe('output targets of workflow runs', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
  });
  afterAll(() => stack.close());

  const plan = { id: 'plan', type: 'agent', agent: 'coder', input: 'Plan' };
  const define = (id: string, fields: object) =>
    stack.call.ok('POST', path, {
      id,
      name: id,
      agents: [{ id: 'coder', agent: 'elsewhere' }],
      steps: [plan],
      ...fields,
    });
  const untilStatus = (id: string, status: string) =>
    eventually(
      async () => {
        const run = await stack.call.ok('GET', `${path}/runs/${id}`);
        expect(run).toMatchObject({ status });
        return run;
      },
      { withinMs: 60_000 },
    );
  const finish = (runId: string, summary: string) =>
    finishStep(stack.call, { runId, stepId: 'plan' }, { status: 'success', summary });

  it('are written once the steps have ended, with the values of the run', async () => {
    await define('reports', {
      outputTargets: [
        { type: 'comment' },
        { type: 'document', path: 'reports/plan.md', content: '# {{task_title}}\n\n{{steps.plan.output}} for $5\n' },
      ],
    });
    const { id: taskId } = await stack.call.ok('POST', '/api/tasks', { title: 'Wall' });
    const run = await stack.call.ok('POST', `${path}/reports/runs`, { taskId });
    await finish(run.id, 'Use <b>bricks</b>.');
    await untilStatus(run.id, 'completed');
    const { comments } = await stack.call.ok('GET', `/api/tasks/${taskId}`);
    expect(comments).toMatchObject([{ text: 'Use bricks.', source: { name: 'workflow-run', id: run.id } }]);
    expect(await stack.call.ok('GET', '/api/docs/file/reports/plan.md')).toMatchObject({
      content: '# Wall\n\nUse <b>bricks</b>. for $5\n',
    });
    const { entries } = await stack.call.ok('GET', '/api/audit?action=doc.write');
    expect(entries).toMatchObject([{ resource: 'reports/plan.md', details: { runId: run.id } }]);
    const drawn = await fetch(`${stack.url}${path}/runs/${run.id}/graph`);
    expect(await drawn.text()).toContain('Write reports/plan.md');
  });

  it('fail the run where they cannot be written, and are written when it is resumed, without its steps', async () => {
    await define('gone', { outputTargets: [{ type: 'document', path: 'a.md' }, { type: 'comment' }] });
    const { id: taskId } = await stack.call.ok('POST', '/api/tasks', { title: 'Short-lived' });
    const run = await stack.call.ok('POST', `${path}/gone/runs`, { taskId });
    await stack.call.ok('DELETE', `/api/tasks/${taskId}`);
    await finish(run.id, 'Done.');
    expect(await untilStatus(run.id, 'failed')).toMatchObject({
      error: expect.stringMatching(/^The comment is not written: /),
    });
    await stack.call.ok('POST', `/api/tasks/${taskId}/restore`, {});
    const resumed = await stack.call.ok('POST', `${path}/runs/${run.id}/resume`, {});
    await untilStatus(resumed.id, 'completed');
    expect((await stack.call.ok('GET', `/api/tasks/${taskId}`)).comments).toMatchObject([{ text: 'Done.' }]);
  });
});
