import { eventually } from '../../../../platform/testing/eventually';
import { continueRunId } from '../../../../workflows/continue-run/messages';
import { goalWorkflowId } from '../../../../workflows/goal/messages';
import { aGoal } from '../../../support/factories/goal';
import { allowContinuations } from '../../../support/runs/goals';
import { latestWorkflow, type Recording, type Stage } from '../stage';

/** A goal whose run ends without completing it, and which is continued with a fresh conversation; a run that the watcher continues. */
export async function goalScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  await allowContinuations(call);
  const { id: taskId } = await call.createTask({ title: 'Pursued', agent: 'elsewhere' });
  const { id } = await call.ok('POST', '/api/goals', aGoal(taskId, { continuation: { mode: 'automatic' } }));
  const { attemptId } = await call.start(taskId);
  await call.ok('POST', `/api/goals/${id}/runs`, { expectedRevision: 1, taskId, attemptId });
  const report = { attemptId, status: 'partial', summary: 'Half of it.' };
  await call.ok('POST', `/api/agents/${taskId}/complete`, report);
  await eventually(async () => {
    const { currentRun } = await call.ok('GET', `/api/goals/${id}`);
    if (currentRun.kind !== 'rollover') {
      throw new Error('the goal is not continued yet');
    }
  });
  await allowContinuations(call, { continueRuns: true });
  const { id: watched } = await call.createTask({ title: 'Watched', agent: 'elsewhere' });
  const run = await call.start(watched);
  const continuation = { provider: 'elsewhere', kind: 'thread', reference: 'thread-1' };
  const partial = { attemptId: run.attemptId, status: 'partial', summary: 'Half of it.', continuation };
  await call.ok('POST', `/api/agents/${watched}/complete`, partial);
  await latestWorkflow(temporal, 'continueRun');
  return [
    ['goal-continued', goalWorkflowId(id)],
    ['run-continued', continueRunId(run.attemptId)],
  ];
}
