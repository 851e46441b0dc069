import { WithStartWorkflowOperation } from '@temporalio/client';
import { newAttemptId } from '../../../domain/ids';
import { startProofMs } from '../../../platform/crypto/message-proof';
import { digestOf } from '../../../platform/json/digest';
import { createLog } from '../../../platform/log/log';
import type { Database } from '../../../stores/port/collection';
import { openDatabase } from '../../../stores/port/open';
import { createLaunchStore, type LaunchStore } from '../../../stores/runs/launch/launch-store';
import { agentRunId, type AgentRunInput, launchUpdate, launchUpdateId } from '../../../workflows/agent-run/messages';
import { withProof } from '../../../workflows/clients/with-proof';
import { launchMessage } from '../../../workflows/message-proofs';
import { boardQueue } from '../../../workflows/queues';
import { Caller, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { proofsOf } from '../../support/stack/proofs';
import { startService } from '../../support/stack/service';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let database: Database;
let launches: LaunchStore;

beforeAll(async () => {
  stack = await startStack();
  database = await openDatabase({
    mongoUrl: stack.env.MONGODB_URL,
    dataDir: stack.env.BOARD_DATA_DIR,
    log: createLog({ name: 'test', level: 'silent' }),
  });
  launches = await createLaunchStore(database);
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('worker-bee'),
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
});

afterAll(async () => {
  await database.close();
  await stack.close();
});

const aTask = () => stack.call.createTask({ title: 'Once', git: { repo: 'sample' } });
const header = (key: string) => ({ 'x-idempotency-key': key });
const remote = { agent: 'elsewhere' };
const attemptsOf = async (taskId: string) => (await stack.call.status(taskId)).attemptId;

test('twenty callers of two replicas with one key are one run with one answer', async () => {
  const replica = new Caller((await stack.anotherApi()).url);
  const task = await aTask();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? stack.call : replica).start(task.id, remote, header('one-key-for-all-of-us')),
    ),
  );
  const [{ replayed: _mark, ...one }] = answers;
  for (const { replayed: _replayed, ...answer } of answers) {
    expect(answer).toEqual(one);
  }
  expect(answers.filter(({ replayed }) => replayed === undefined)).toHaveLength(1);
  expect(await attemptsOf(task.id)).toBe(answers[0].attemptId);
});

test('the key of the header counts, not the one of the body, and the body alone will do', async () => {
  const [first, second] = [await aTask(), await aTask()];
  const a = await stack.call.start(
    first.id,
    { ...remote, idempotencyKey: 'key-in-the-body' },
    header('key-in-the-header'),
  );
  expect(await stack.call.start(first.id, remote, header('key-in-the-header'))).toEqual({ ...a, replayed: true });
  const b = await stack.call.start(second.id, { ...remote, idempotencyKey: 'key-in-the-body' });
  expect(await stack.call.start(second.id, { ...remote, idempotencyKey: 'key-in-the-body' })).toEqual({
    ...b,
    replayed: true,
  });
  // Under the body's key nothing was ever launched on the first task: it is a new launch, and the task is busy.
  const busy = await stack.call.post(`/api/agents/${first.id}/start`, { ...remote, idempotencyKey: 'key-in-the-body' });
  expect(busy).toMatchObject({ status: 409, body: { code: 'RUN_ACTIVE' } });
});

test('a refusal by admission is the answer for ever, too', async () => {
  const task = await aTask();
  const { attemptId } = await stack.call.start(task.id, remote);
  const start = () => stack.call.post(`/api/agents/${task.id}/start`, remote, header('refused-once-and-for-all'));
  const refused = await start();
  expect(refused).toMatchObject({ status: 409, body: { code: 'RUN_ACTIVE', details: { attemptId } } });
  await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
  const again = await start();
  expect(again.body).toEqual({ ...refused.body, details: { ...refused.body.details, replayed: true } });
  expect([refused, again].map(({ headers }) => headers.get('Idempotency-Replayed'))).toEqual([null, 'true']);
});

test('another request under the key is refused and changes nothing', async () => {
  const task = await aTask();
  const { attemptId } = await stack.call.start(task.id, remote, header('belongs-to-the-first'));
  for (const other of [{}, { ...remote, commitPolicy: 'required' }]) {
    const answer = await stack.call.post(`/api/agents/${task.id}/start`, other, header('belongs-to-the-first'));
    expect(answer).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED', details: { attemptId } } });
  }
  expect(await attemptsOf(task.id)).toBe(attemptId);
});

test('nothing keeps the key itself', async () => {
  const key = 'nobody-may-ever-read-this-key';
  const task = await aTask();
  const { attemptId } = await stack.call.start(task.id, { ...remote, idempotencyKey: key });
  const claim = await launches.find(task.id, key);
  expect(claim).toMatchObject({ attemptId });
  const history = await stack.temporal.workflow.getHandle(agentRunId(attemptId)).fetchHistory();
  expect(JSON.stringify([claim, await stack.call.status(task.id)])).not.toContain(key);
  const payloads = JSON.stringify(history, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
  );
  expect(payloads).toContain(attemptId);
  expect(payloads).not.toContain(key);
});

test.each([['short'], ['with spaces in it'], ['x'.repeat(241)]])('the key %j is refused by its name', async (key) => {
  const task = await aTask();
  const answer = await stack.call.post(`/api/agents/${task.id}/start`, {}, header(key));
  expect(answer).toMatchObject({
    status: 400,
    body: { details: { issues: [expect.objectContaining({ path: 'X-Idempotency-Key' })] } },
  });
  expect((await stack.call.post(`/api/agents/${task.id}/start`, { idempotencyKey: key })).status).toBe(400);
});

describe('a launch whose api died before it answered', () => {
  /** Leaves what an api leaves that dies right after it has claimed the key. */
  const claimed = async (taskId: string, key: string, request: object) => {
    const attemptId = newAttemptId();
    const requestDigest = digestOf({ taskId, request });
    await launches.claim(key, { taskId, attemptId, requestDigest, createdAt: new Date().toISOString() });
    return attemptId;
  };

  const run = async (attemptId: string, taskId: string, request: object) => {
    const timings = { runTimeoutMs: 60_000, heartbeatTimeoutMs: 2_000, retryBackoffMs: 10 };
    const input: AgentRunInput = { attemptId, taskId, request, actor: 'test', maxRetries: 0, timings };
    const signed = withProof(await proofsOf(stack.env), input, {
      message: launchMessage(input),
      lifetimeMs: startProofMs,
    });
    return { workflowId: agentRunId(attemptId), taskQueue: boardQueue, args: [signed] as [AgentRunInput] };
  };

  test('continues as the attempt it was', async () => {
    const task = await aTask();
    const attemptId = await claimed(task.id, 'died-before-the-start', remote);
    expect(await stack.call.start(task.id, remote, header('died-before-the-start'))).toMatchObject({ attemptId });
  });

  test('answers what was decided when its workflow is over', async () => {
    const task = await aTask();
    const first = await stack.call.start(task.id, remote);
    const attemptId = await claimed(task.id, 'died-after-the-refusal', remote);
    await stack.temporal.workflow.execute('agentRun', await run(attemptId, task.id, remote));
    const start = () => stack.call.post(`/api/agents/${task.id}/start`, remote, header('died-after-the-refusal'));
    const answer = await start();
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'RUN_ACTIVE', details: { attemptId: first.attemptId } },
    });
    expect((await start()).body).toEqual(answer.body);
  });

  test('answers the refusal also when no attempt was recorded', async () => {
    const task = await aTask();
    const attemptId = await claimed(task.id, 'died-after-an-early-no', {});
    // Admission finds no agent of that name, whatever the caller's own check had found.
    const startWorkflowOperation = new WithStartWorkflowOperation('agentRun', {
      ...(await run(attemptId, task.id, { agent: 'nobody' })),
      workflowIdConflictPolicy: 'FAIL',
    });
    await stack.temporal.workflow.executeUpdateWithStart(launchUpdate, {
      startWorkflowOperation,
      updateId: launchUpdateId,
    });
    await stack.temporal.workflow.getHandle(agentRunId(attemptId)).result();
    const answer = await stack.call.post(`/api/agents/${task.id}/start`, {}, header('died-after-an-early-no'));
    expect(answer).toMatchObject({ status: 404, body: { code: 'AGENT_UNKNOWN' } });
  });
});

test('the key gives the same answer after everything was restarted', async () => {
  let service = await startService();
  try {
    await service.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
    const task = await service.call.createTask({ title: 'Remembered' });
    const first = await service.call.start(task.id, {}, header('survives-a-restart'));
    service = await service.restart(() => Promise.resolve());
    const again = await service.call.start(task.id, {}, header('survives-a-restart'));
    expect(again).toEqual({ ...first, replayed: true });
    expect((await service.call.status(task.id)).attemptId).toBe(first.attemptId);
  } finally {
    await service.close();
  }
});
