import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findByEnvironment } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { reconcileId } from '../../../workflows/reconcile/messages';
import { recoveryId } from '../../../workflows/recovery/messages';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let witness: string;

describe('lost runs', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_RETRY_BACKOFF_MS: '2000', BOARD_MAX_RUNS: '3' });
    witness = join(stack.dir, 'witness');
    writeFileSync(witness, '');
    process.env.WITNESS = witness;
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      { ...scriptAgent('witnessed-bee', '10', '200'), environmentKeys: ['WITNESS'] },
      { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
      { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });

  afterAll(async () => {
    delete process.env.WITNESS;
    await stack.close();
  });

  const lookNow = () => stack.temporal.schedule.getHandle(reconcileId).trigger();
  const aTask = async (): Promise<string> =>
    (await stack.call.createTask({ title: 'Lost', git: { repo: 'sample' } })).id;
  /** The attempts whose agent was started, each as often as it was. */
  const starts = () =>
    readFileSync(witness, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('start '))
      .map((line) => line.split(' ')[1]);
  const startOf = (attemptId: string) => eventually(() => expect(starts()).toContain(attemptId));
  const terminate = (workflowId: string) => stack.temporal.workflow.getHandle(workflowId).terminate('by the test');
  const reservationOf = (attemptId: string) => stack.call.ok('GET', `/api/admission/${attemptId}`);
  const attemptsOf = async (taskId: string) => (await stack.call.ok('GET', `/api/agents/${taskId}/attempts`)).attempts;

  /** The ends in an attempt's log. */
  const endsOf = async (taskId: string, attemptId: string) =>
    (await stack.call.events(taskId, attemptId)).filter(({ kind }) =>
      ['run.completed', 'run.failed', 'run.interrupted'].includes(kind),
    );

  test('a run whose workflow was terminated is interrupted once, gives back what it held, and is retried', async () => {
    const taskId = await aTask();
    const { attemptId } = await stack.call.start(taskId, { agent: 'witnessed-bee' });
    await startOf(attemptId);
    await terminate(agentRunId(attemptId));
    await Promise.all([lookNow(), lookNow()]);
    const status = await eventually(async () => {
      const now = await stack.call.status(taskId);
      expect(now).toMatchObject({ state: 'ended', attempt: { retryNumber: 1 } });
      return now;
    });
    expect(status.attempt.completion.status).toBe('success');
    expect(await reservationOf(attemptId)).toMatchObject({ state: 'released' });
    expect(await stack.call.ok('GET', `/api/agents/${taskId}/recovery`)).toMatchObject({
      attemptId,
      action: 'retry',
      state: 'launched',
      nextAttemptId: status.attemptId,
    });
    const [, first] = await attemptsOf(taskId);
    expect(first).toMatchObject({
      id: attemptId,
      completion: {
        status: 'interrupted',
        harness: { ended: 'lost' },
        summary: 'The workflow of the run was terminated.',
      },
    });
    expect(await endsOf(taskId, attemptId)).toHaveLength(1);
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', attemptId)).toEqual([]);
    expect(starts().filter((started) => started === attemptId)).toHaveLength(1);
    await lookNow();
    expect(await attemptsOf(taskId)).toHaveLength(2);
  });

  test('a queued run and an agent elsewhere whose workflows were terminated end, and nothing follows', async () => {
    const remoteTask = await aTask();
    const remote = await stack.call.start(remoteTask, { agent: 'elsewhere' });
    const busy = [await aTask(), await aTask()];
    const holding = [];
    for (const taskId of busy) {
      holding.push(await stack.call.start(taskId, { agent: 'long-bee' }));
    }
    const queuedTask = await aTask();
    const queued = await stack.call.start(queuedTask, { agent: 'witnessed-bee' });
    expect(queued.status).toBe('queued');
    await terminate(agentRunId(queued.attemptId));
    await terminate(agentRunId(remote.attemptId));
    await lookNow();
    for (const [taskId, attemptId, ended] of [
      [queuedTask, queued.attemptId, 'not-dispatched'],
      [remoteTask, remote.attemptId, 'lost'],
    ]) {
      const status = await stack.call.ended(taskId);
      expect(status.attempt.completion).toMatchObject({ status: 'interrupted', harness: { ended } });
      expect(await stack.call.ok('GET', `/api/agents/${taskId}/recovery`)).toMatchObject({ state: 'exhausted' });
      expect(await endsOf(taskId, attemptId)).toHaveLength(1);
    }
    expect(await reservationOf(remote.attemptId)).toMatchObject({ state: 'released' });
    expect(starts()).not.toContain(queued.attemptId);
    // The tasks are free again.
    const again = await stack.call.start(queuedTask, { agent: 'witnessed-bee' });
    expect(again.attemptId).not.toBe(queued.attemptId);
    for (const { taskId, attemptId } of holding) {
      await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    }
    await stack.call.ended(queuedTask);
  });

  test('a recovery whose workflow was terminated is cancelled, and gives its task back', async () => {
    const taskId = await aTask();
    const { attemptId } = await stack.call.start(taskId, { agent: 'limited' });
    await stack.call.ended(taskId);
    const recovery = () => stack.call.ok('GET', `/api/agents/${taskId}/recovery`);
    expect(await recovery()).toMatchObject({ attemptId, state: 'scheduled' });
    await eventually(() => terminate(recoveryId(attemptId)));
    await lookNow();
    await eventually(async () =>
      expect(await recovery()).toMatchObject({ state: 'cancelled', cancelledBy: 'system:reconcile' }),
    );
    expect(await attemptsOf(taskId)).toHaveLength(1);
    const again = await stack.call.start(taskId, { agent: 'witnessed-bee' });
    expect(again.status).toBe('running');
    await stack.call.ended(taskId);
  });
});
