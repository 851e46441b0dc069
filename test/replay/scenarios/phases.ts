import { eventually } from '../../../platform/testing/eventually';
import { phaseExpansionId } from '../../../workflows/phase-expansion/messages';
import { aWaitingRun } from '../../support/approvals';
import { confinedAgent, inMs, readPhase, transitionOf } from '../../support/phases';
import type { Recording, Stage } from './stage';

/** An emergency that ended, and one that was decided on a state that was gone. */
export async function phaseScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const run = await aWaitingRun(call);
  await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  await call.configureAgents([confinedAgent()]);
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
    if (emergency || sequence !== 2) throw new Error('the emergency lasts');
  });
  await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId });
  return [
    ['phase-expansion-first', phaseExpansionId(confined.attemptId, 'first')],
    ['phase-expansion-second', phaseExpansionId(confined.attemptId, 'second')],
  ];
}
