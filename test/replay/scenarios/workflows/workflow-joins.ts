import { finishStep, launchedOfStep } from '../../../support/runs/workflow-steps';
import type { Recording, Stage } from '../stage';

/** Runs of workflows of the board whose branches end each other, and one whose output is repaired. */
export async function workflowJoinScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const path = '/api/workflows';
  const agent = 'coder';
  const agents = [{ id: agent, agent: 'elsewhere' }];
  const steps = ['one', 'two'].map((id) => ({ id, agent, input: id }));
  const schema = { type: 'object', required: ['score'] };
  async function begin(id: string, step: object): Promise<string> {
    await call.ok('POST', path, { id, name: id, agents, steps: [step] });
    return (await call.ok('POST', `${path}/${id}/runs`, {})).id as string;
  }
  /** Ends the first branch once both are launched. */
  async function joined(id: string, parallel: object, end: object): Promise<string> {
    const runId = await begin(id, { id: 'both', type: 'parallel', parallel: { steps, ...parallel } });
    await launchedOfStep(call, { runId, stepId: 'two' });
    await finishStep(call, { runId, stepId: 'one' }, end);
    return runId;
  }
  const any = await joined('joined-any', { completion: 'any' }, { status: 'success', summary: 'The first.' });
  const fast = await joined('joined-fast', { fail_fast: true }, { status: 'failed', summary: 'No.', error: 'no way' });
  const repaired = await begin('repaired', { id: 'plan', type: 'agent', agent, input: 'Plan', output: { schema } });
  const first = await finishStep(call, { runId: repaired, stepId: 'plan' }, { status: 'success', summary: 'No JSON.' });
  const all = await launchedOfStep(call, { runId: repaired, stepId: 'plan', count: 2 });
  for (const { taskId, attemptId } of all.filter((each) => each.attemptId !== first.attemptId)) {
    const end = { attemptId, status: 'success', summary: '{"score": 3}' };
    await call.ok('POST', `/api/agents/${taskId}/complete`, end);
  }
  return [
    ['board-workflow-run-any-2026-11', `workflow-run/${any}`],
    ['board-workflow-run-fail-fast-2026-11', `workflow-run/${fast}`],
    ['board-workflow-run-repaired-2026-11', `workflow-run/${repaired}`],
  ];
}
