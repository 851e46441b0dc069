import type { Client } from '@temporalio/client';
import { eventually } from '../../../platform/testing/eventually';
import { schedulerId } from '../../../workflows/admission-scheduler/messages';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { outputCleanupId } from '../../../workflows/output-cleanup/messages';
import { recoveryId } from '../../../workflows/recovery/messages';
import { killPart } from '../../support/stack/service';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** Plays every way a workflow can go, and returns the workflow of each. */
export async function runScenarios({ service, temporal }: Stage): Promise<Recording[]> {
  const { call } = service;
  const aTask = () => call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  const launch = async (agent: string) => {
    const task = await aTask();
    // A busy machine may take longer to respond than a caller waits.
    const key = { 'x-idempotency-key': `recorded-${task.id}` };
    const { attemptId } = await eventually(() => call.start(task.id, { agent }, key));
    return { taskId: task.id as string, attemptId: attemptId as string };
  };
  const stop = ({ taskId, attemptId }: { taskId: string; attemptId: string }) =>
    call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
  const working = ({ taskId }: { taskId: string }) =>
    eventually(async () => {
      const { lastSequence } = await call.status(taskId);
      if (lastSequence < 3) {
        throw new Error('not working yet');
      }
    });

  const success = await launch('worker-bee');
  await call.ended(success.taskId);
  const failed = await launch('failing');
  await call.ended(failed.taskId);

  const stopped = await launch('long-bee');
  await working(stopped);
  await stop(stopped);

  const remote = await launch('elsewhere');
  await call.ok('POST', `/api/agents/${remote.taskId}/complete`, { attemptId: remote.attemptId, success: true });

  const refused = await call.createTask({ title: 'Refused', git: { repo: 'sample', baseBranch: 'nope' } });
  const key = { 'x-idempotency-key': 'recorded-refusal' };
  const answer = await call.post(`/api/agents/${refused.id}/start`, {}, key);
  if (answer.status !== 409) {
    throw new Error(`expected a refusal, not ${answer.status}`);
  }
  const refusedRun = await latestWorkflow(temporal, 'agentRun', `AND BoardTaskId = "${refused.id}"`);

  const first = await launch('long-bee');
  const second = await launch('long-bee');
  const queued = await launch('worker-bee');
  const unwanted = await launch('worker-bee');
  await stop(unwanted);
  await stop(first);
  await stop(second);
  await call.ended(queued.taskId);
  await eventually(async () => {
    const { status } = await temporal.workflow.getHandle(schedulerId).describe();
    if (status.name !== 'COMPLETED') {
      throw new Error('the scheduler still waits');
    }
  });

  const lost = await launch('long-bee');
  await working(lost);
  killPart(service, 'worker');
  const retry = await eventually(async () => {
    const { attemptId } = await call.status(lost.taskId);
    if (attemptId === lost.attemptId) {
      throw new Error('not retried yet');
    }
    return { taskId: lost.taskId, attemptId: attemptId as string };
  });
  await working(retry);
  await stop(retry);

  const cancelled = await launch('limited');
  await call.ended(cancelled.taskId);
  await eventually(() =>
    call.ok('POST', `/api/agents/${cancelled.taskId}/recovery/cancel`, { attemptId: cancelled.attemptId }),
  );

  return [
    ['agent-run-success', agentRunId(success.attemptId)],
    ['agent-run-failed', agentRunId(failed.attemptId)],
    ['agent-run-stopped', agentRunId(stopped.attemptId)],
    ['agent-run-remote', agentRunId(remote.attemptId)],
    ['agent-run-refused', refusedRun],
    ['agent-run-queued', agentRunId(queued.attemptId)],
    ['agent-run-queued-stopped', agentRunId(unwanted.attemptId)],
    ['agent-run-lost', agentRunId(lost.attemptId)],
    ['agent-run-retry', agentRunId(retry.attemptId)],
    ['recovery', recoveryId(lost.attemptId)],
    ['recovery-cancelled', recoveryId(cancelled.attemptId)],
    ['admission-scheduler', schedulerId],
    ['output-cleanup', await cleanedUp(temporal)],
  ];
}

/** Has the schedule start its workflow now. */
async function cleanedUp(temporal: Client): Promise<string> {
  await temporal.schedule.getHandle(outputCleanupId).trigger();
  return latestWorkflow(temporal, 'outputCleanup');
}
