import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { agentRunId } from '../../../../workflows/agent-run/messages';
import { kill } from '../../../support/processes/kill';
import { partEnvironment } from '../../../support/stack/service';
import { startWorkerProcess } from '../../../support/stack/worker-process';
import type { Recording, Stage } from '../stage';

/** A run that is stopped while its worker is paused: it ends beside an activity that Temporal waits for. */
export async function pausedScenarios({ service, dir }: Stage): Promise<Recording[]> {
  const { call } = service;
  const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  const { attemptId } = await call.start(id, { agent: 'long-bee' });
  await eventually(async () => {
    if ((await call.status(id)).lastSequence < 3) {
      throw new Error('not working yet');
    }
  });
  const other = await startWorkerProcess({
    environment: partEnvironment(service),
    logFile: join(dir, 'other-worker.log'),
  });
  const paused = service.pids().worker!;
  try {
    process.kill(paused, 'SIGSTOP');
    await call.ok('POST', `/api/agents/${id}/stop`, { attemptId });
    await call.ended(id);
  } finally {
    process.kill(paused, 'SIGCONT');
    kill(other.pid);
  }
  return [['agent-run-stopped-while-paused', agentRunId(attemptId)]];
}
