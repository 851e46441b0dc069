import { WorkflowNotFoundError } from '@temporalio/client';
import type { LaunchOrigin, WorkflowBinding } from '../../../contracts/runs/admission';
import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { recoveryId } from '../../../workflows/recovery/messages';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { launchFrom } from '../../support/processes/launch-child';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
    scriptAgent('worker-bee'),
  ]);
});
afterAll(() => stack.close());

const bindingOf = (runId: string): Required<WorkflowBinding> => ({
  runId,
  stepId: 'build it',
  rootReservationId: 'reservation-of-the-run',
});

/** Launches the step as the caller that runs the workflow does; its agent fails in a way that may pass. */
async function launchStep(workflow: WorkflowBinding, retryBackoffMs: number) {
  const { id: taskId } = await stack.call.createTask({ title: 'A step', git: { repo: 'sample' } });
  const origin: LaunchOrigin = { source: 'workflow', edge: 'root', workflow };
  const timings = { runTimeoutMs: 60_000, heartbeatTimeoutMs: 2_000, retryBackoffMs };
  const launch = await launchFrom(stack, origin, { taskId, request: {}, maxRetries: 1, timings });
  expect(launch).toMatchObject({ status: 'running', agent: 'limited' });
  return { taskId, attemptId: 'attemptId' in launch ? launch.attemptId : '' };
}

const recoveryOf = (taskId: string) => stack.call.ok('GET', `/api/agents/${taskId}/recovery`);
const attemptsOf = async (taskId: string) => (await stack.call.ok('GET', `/api/agents/${taskId}/attempts`)).attempts;
const cancel = (runId: string, body: object) =>
  stack.call.post(`/api/workflows/runs/${encodeURIComponent(runId)}/recovery/cancel`, body);

test('what follows a step of a workflow is cancelled by its run, its step and exactly its parent, once', async () => {
  const workflow = bindingOf('run: 1 / a');
  const { runId, stepId } = workflow;
  const { taskId, attemptId } = await launchStep(workflow, 60_000);
  await stack.call.ended(taskId);
  const waiting = await recoveryOf(taskId);
  expect(waiting).toMatchObject({ attemptId, state: 'scheduled', workflow });

  for (const parentRunId of [waiting.nextAttemptId, runId]) {
    expect(await cancel(runId, { stepId, parentRunId })).toMatchObject({
      status: 409,
      body: { code: 'STALE_ATTEMPT', details: { state: 'scheduled', recovery: waiting } },
    });
  }
  for (const [run, step] of [
    ['run_2', stepId],
    [runId, 'another step'],
  ] as const) {
    const answer = await cancel(run, { stepId: step, parentRunId: attemptId });
    expect(answer).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  }
  for (const [body, path] of [
    [{ parentRunId: attemptId }, 'stepId'],
    [{ stepId }, 'parentRunId'],
    [{ stepId: { $gt: '' }, parentRunId: attemptId }, 'stepId'],
    [{ stepId, parentRunId: attemptId, force: true }, 'force'],
  ] as const) {
    const answer = await cancel(runId, body);
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } });
  }
  expect((await cancel('\0', { stepId, parentRunId: attemptId })).status).toBe(400);

  // The run has ended a moment before the workflow of its recovery is started.
  const recovery = stack.temporal.workflow.getHandle(recoveryId(attemptId));
  await eventually(() => recovery.describe());
  const { body: cancelled } = await cancel(runId, { stepId, parentRunId: attemptId });
  expect(cancelled).toMatchObject({ state: 'cancelled', action: 'cancelled', workflow });
  expect(await cancel(runId, { stepId, parentRunId: attemptId })).toMatchObject({
    status: 409,
    body: { code: 'RECOVERY_NOT_CANCELLABLE', details: { state: 'cancelled' } },
  });
  await recovery.result();
  const next = stack.temporal.workflow.getHandle(agentRunId(waiting.nextAttemptId));
  await expect(next.describe()).rejects.toThrow(WorkflowNotFoundError);
  expect(await attemptsOf(taskId)).toHaveLength(1);
});

test('a retry and the fallback of a step are still of that step, and what is launched is not cancelled', async () => {
  await stack.call.ok('PUT', '/api/agents/routing', {
    enabled: true,
    rules: [{ id: 'all', name: 'Everything', match: {}, agent: 'limited', fallback: 'worker-bee', enabled: true }],
    defaultAgent: null,
    fallbackOnFailure: true,
    maxRetries: 1,
  });
  const workflow = bindingOf('run_3');
  const { runId, stepId } = workflow;
  const { taskId, attemptId } = await launchStep(workflow, 10);
  await eventually(async () =>
    expect(await stack.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({ status: 'done' }),
  );
  const attempts = await attemptsOf(taskId);
  expect(attempts.map(({ agent }: { agent: string }) => agent)).toEqual(['worker-bee', 'limited', 'limited']);
  const query = new URLSearchParams({ workflowRunId: runId, workflowStepId: stepId });
  const { reservations } = await stack.call.ok('GET', `/api/admission?${query}`);
  expect(reservations.map(({ id, workflow }: { id: string; workflow: object }) => [id, workflow])).toEqual(
    attempts.map(({ id }: { id: string }) => [id, workflow]),
  );
  const parentRunId = attempts[1].id;
  expect(await recoveryOf(taskId)).toMatchObject({ attemptId: parentRunId, action: 'fallback', workflow });
  expect(await cancel(runId, { stepId, parentRunId })).toMatchObject({
    status: 409,
    body: { code: 'RECOVERY_NOT_CANCELLABLE', details: { state: 'launched' } },
  });
  expect(await cancel(runId, { stepId, parentRunId: attemptId })).toMatchObject({ body: { code: 'STALE_ATTEMPT' } });
});

describe('a step that is started over HTTP', () => {
  const aTask = async () => (await stack.call.createTask({ title: 'A step', git: { repo: 'sample' } })).id as string;
  const start = async (runId: string, stepId: string, body: object, key?: string) =>
    stack.call.post(
      `/api/workflows/runs/${encodeURIComponent(runId)}/steps/${encodeURIComponent(stepId)}/start`,
      { agent: 'worker-bee', ...body },
      key === undefined ? {} : { 'x-idempotency-key': key },
    );
  const admissionOf = (attemptId: string) => stack.call.ok('GET', `/api/admission/${attemptId}`);

  test('belongs to its run, and to the tree of the launch whose reservation it names', async () => {
    const [first, second] = [await aTask(), await aTask()];
    const root = await start('run: 4 / a', 'plan it', { taskId: first });
    expect(root).toMatchObject({ status: 201, body: { taskId: first, status: 'running', agent: 'worker-bee' } });
    const { attemptId: rootReservationId } = root.body;
    expect(await admissionOf(rootReservationId)).toMatchObject({
      request: { source: 'workflow' },
      workflow: { runId: 'run: 4 / a', stepId: 'plan it' },
      tree: { rootObjectiveId: rootReservationId, edge: 'root', depth: 0 },
    });
    const step = await start('run: 4 / a', 'build it', { taskId: second, rootReservationId });
    expect(step.status).toBe(201);
    expect(await admissionOf(step.body.attemptId)).toMatchObject({
      request: { source: 'workflow' },
      workflow: { runId: 'run: 4 / a', stepId: 'build it', rootReservationId },
      tree: { rootObjectiveId: rootReservationId, parentNodeId: rootReservationId, edge: 'workflow-step', depth: 1 },
    });
    await Promise.all([stack.call.ended(first), stack.call.ended(second)]);

    const another = await start('run_5', 'build it', { taskId: await aTask(), rootReservationId });
    expect(another).toMatchObject({ status: 409, body: { code: 'WORKFLOW_RUN_MISMATCH' } });
    const unknown = await start('run_5', 'build it', {
      taskId: await aTask(),
      rootReservationId: 'attempt_nobody0000',
    });
    expect(unknown).toMatchObject({ status: 404, body: { details: { resource: 'reservation' } } });
    const parent = await start('run_5', 'build it', { taskId: first, parentAttemptId: rootReservationId });
    expect(parent).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'parentAttemptId' }] } } });
  });

  test('is one run under one key, and another step under that key is refused', async () => {
    const taskId = await aTask();
    const [one, same] = await Promise.all([
      start('run_6', 'build it', { taskId }, 'step-of-run-6'),
      start('run_6', 'build it', { taskId }, 'step-of-run-6'),
    ]);
    expect(one.status).toBe(201);
    expect(same.body.attemptId).toBe(one.body.attemptId);
    expect([one, same].filter(({ body }) => body.replayed === true)).toHaveLength(1);
    await stack.call.ended(taskId);
    expect(await start('run_6', 'test it', { taskId }, 'step-of-run-6')).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
  });
});
