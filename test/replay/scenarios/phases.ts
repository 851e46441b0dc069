import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { temporaryAuthorityId } from '../../../workflows/temporary-authority/messages';
import { aWaitingRun } from '../../support/runs/approvals';
import { inMs, readPhase, transitionOf } from '../../support/runs/phases';
import type { Recording, Stage } from './stage';

/** Changes of what a run may do, of which its agent is notified where it can be, and emergencies. */
export async function phaseScenarios(stage: Stage): Promise<Recording[]> {
  return [
    ...(await emergencies(stage)),
    ['agent-run-phases-told', await changedRun(stage, 'confined-listener', true)],
    ['agent-run-phases-untold', await changedRun(stage, 'confined-elsewhere', false)],
  ];
}

/** A run that is restricted, twice, and the notice to its agent each time. */
async function changedRun({ service: { call } }: Stage, agent: string, delivered: boolean): Promise<string> {
  const task = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  const { attemptId } = await call.start(task.id, { agent, phase: 'implement' });
  const run = { taskId: task.id as string, attemptId: attemptId as string };
  const url = `/api/agents/${task.id}/phase/transitions`;
  for (const [index, phase] of ['verify', 'explore'].entries()) {
    await call.ok('POST', url, transitionOf(await readPhase(call, run), phase, phase));
    await eventually(async () => {
      const events = await call.events(run.taskId, run.attemptId);
      const reported = events.filter(
        ({ payload }) => payload.actor === 'system:phase' && payload.delivered === delivered,
      );
      if (reported.length <= index) {
        throw new Error('it has not been notified yet');
      }
    });
  }
  await call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
  return agentRunId(run.attemptId);
}

/** An emergency that ended, and one that was decided on a state that was gone. */
async function emergencies({ service: { call } }: Stage): Promise<Recording[]> {
  const run = await aWaitingRun(call);
  await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  const { attemptId } = await call.start(run.taskId, { agent: 'confined', phase: 'verify' });
  const confined = { ...run, attemptId: attemptId as string };
  const snapshot = await readPhase(call, confined);
  const url = `/api/agents/${run.taskId}/phase/transitions`;
  const emergencyOverride = { justification: 'it is recorded', expiresAt: inMs(2_000) };
  await Promise.all(
    ['first', 'second'].map((id) => call.post(url, transitionOf(snapshot, 'implement', id, { emergencyOverride }))),
  );
  await eventually(async () => {
    const { emergency, sequence } = await readPhase(call, confined);
    if (emergency || sequence !== 2) {
      throw new Error('the emergency lasts');
    }
  });
  await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId });
  return [
    ['phase-expansion-first', temporaryAuthorityId(confined.attemptId, 'first')],
    ['phase-expansion-second', temporaryAuthorityId(confined.attemptId, 'second')],
  ];
}
