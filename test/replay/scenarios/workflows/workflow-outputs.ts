import { eventually } from '../../../../platform/testing/eventually';
import { finishStep } from '../../../support/runs/workflow-steps';
import type { Recording, Stage } from '../stage';

/** Runs of workflows of the board that write their results: one that does, and one whose task is gone. */
export async function workflowOutputScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const path = '/api/workflows';
  const [agent, stepId] = ['coder', 'plan'];
  await call.ok('POST', path, {
    ...{ id: 'written', name: 'Written', agents: [{ id: agent, agent: 'elsewhere' }] },
    steps: [{ id: stepId, type: 'agent', agent, input: 'Plan' }],
    outputTargets: [{ type: 'document', path: 'reports/plan.md' }, { type: 'comment' }],
  });
  const begin = async (): Promise<{ taskId: string; runId: string }> => {
    const { id: taskId } = await call.createTask({ title: 'Wall' });
    const { id: runId } = await call.ok('POST', `${path}/written/runs`, { taskId });
    return { taskId, runId };
  };
  const ended = ({ runId }: { runId: string }, status: string) =>
    eventually(async () => {
      const run = await call.ok('GET', `${path}/runs/${runId}`);
      if (run.status !== status) {
        throw new Error(`It is ${run.status}.`);
      }
    });
  const written = await begin();
  await finishStep(call, { runId: written.runId, stepId }, { status: 'success', summary: 'Use bricks.' });
  await ended(written, 'completed');
  const unwritten = await begin();
  await call.ok('DELETE', `/api/tasks/${unwritten.taskId}`);
  await finishStep(call, { runId: unwritten.runId, stepId }, { status: 'success', summary: 'Use wood.' });
  await ended(unwritten, 'failed');
  return [
    ['board-workflow-run-written-2026-11', `workflow-run/${written.runId}`],
    ['board-workflow-run-not-written-2026-11', `workflow-run/${unwritten.runId}`],
  ];
}
