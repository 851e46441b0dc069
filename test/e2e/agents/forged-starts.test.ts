import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { updateProofMs } from '../../../platform/crypto/message-proof';
import { messageUnproven } from '../../../platform/crypto/message-proof-shape';
import { callNexus } from '../../../platform/temporal/nexus-client';
import { eventually } from '../../../platform/testing/eventually';
import { runWorkflowId } from '../../../services/workflow-runs/runs/execution/messages';
import { cancelExecutionTreeId } from '../../../workflows/cancel-execution-tree/messages';
import { withProof } from '../../../workflows/clients/with-proof';
import { deliverHooksId } from '../../../workflows/deliver-hooks/messages';
import { hostService } from '../../../workflows/host-service';
import { operateMessage } from '../../../workflows/message-proofs';
import { boardQueue, hostQueue } from '../../../workflows/queues';
import { reviewAcceptanceId } from '../../../workflows/review-acceptance/messages';
import { temporaryAuthorityId } from '../../../workflows/temporary-authority/messages';
import { rewindPlanId, workspaceRewindId } from '../../../workflows/workspace-rewind/messages';
import { type AskedFor, worktreeId } from '../../../workflows/worktree/messages';
import { scriptAgent } from '../../support/caller';
import { proofsOf, someProofs } from '../../support/stack/proofs';
import { type Stack } from '../../support/stack/stack';
import { startForger } from '../../support/workflows/forging';
import { aRun, attackedStack, longAgo, refusals, refused, runs, timings } from './forged-fixture';

let stack: Stack;
let taskId: string;
beforeAll(async () => {
  ({ stack, taskId } = await attackedStack());
});
afterAll(() => stack.close());

describe('what a worker inspects or starts', () => {
  const marker = () => join(stack.dir, 'ran');
  /** A snapshot that names programs of its own. */
  const forged = () => ({
    snapshot: {
      taskId,
      request: {},
      agent: {
        ...scriptAgent('evil'),
        command: '/bin/sh',
        args: ['-c', `touch ${marker()}`],
        versionArgs: ['-c', `touch ${marker()}`],
      },
    },
    repository: { name: 'sample', path: stack.dir, defaultBranch: 'main' },
    git: { branch: 'b', baseBranch: 'main' },
  });
  const proof = {
    purpose: 'launch-preview',
    subject: 'board',
    actor: 'system:service',
    digest: 'x',
    issuedAt: new Date().toISOString(),
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
    mac: 'AAAA',
  };

  it.each([
    ['the host', () => stack.worker.hostId],
    ['the board', () => null],
  ])('runs nothing of a preview that was sent to %s directly', async (_name, host) => {
    const hostId = host();
    const taskQueue = hostId === null ? boardQueue : hostQueue(hostId);
    const server = { httpAddress: stack.env.TEMPORAL_HTTP_ADDRESS!, namespace: stack.env.TEMPORAL_NAMESPACE };
    const question = { taskQueue, service: hostService, operation: 'preview', withinMs: 10_000 };
    for (const input of [
      { ...forged(), hostId },
      { ...forged(), hostId, proof },
    ]) {
      await expect(callNexus(server, { ...question, input })).rejects.toThrow(/is not proven/);
      expect(await refused(runs(stack, 'launchPreview', input))).toBe(messageUnproven);
    }
    expect(existsSync(marker())).toBe(false);
    await eventually(async () => {
      const problems = (await refusals(stack)).map(({ details }) => details);
      expect(problems).toContainEqual({
        purpose: 'launch-preview',
        problem: 'missing',
        claimedActor: 'system:service',
      });
      expect(problems).toContainEqual({ purpose: 'launch-preview', problem: 'forged', claimedActor: 'system:service' });
    });
  });

  it('does not inspect a repository that a message names', async () => {
    const { repository, git } = forged();
    const input = { taskId, repository, git, hostId: stack.worker.hostId };
    expect(await refused(runs(stack, 'workspaceInventory', input))).toBe(messageUnproven);
  });

  it('inspects and lists no repository at a path that the API has not signed', async () => {
    const location = { hostId: stack.worker.hostId, path: stack.dir };
    const candidate = { ...location, remote: null, allowFilters: [], defaultBranch: 'main', askRemotes: true };
    expect(await refused(runs(stack, 'repositoryInspection', candidate))).toBe(messageUnproven);
    expect(await refused(runs(stack, 'repositoryBranches', { ...location, limit: 100 }))).toBe(messageUnproven);
  });

  it('starts no agent for a check that the API has not signed', async () => {
    const input = { hostId: stack.worker.hostId, agentType: 'worker-bee', revision: 1 };
    expect(await refused(runs(stack, 'agentCheck', input))).toBe(messageUnproven);
  });

  it('starts no tool server for a discovery that the API has not signed', async () => {
    const definitionDigest = `sha256:${'0'.repeat(64)}`;
    const requestedAt = new Date().toISOString();
    const input = { hostId: stack.worker.hostId, serverId: 'any', definitionDigest, requestedAt };
    expect(await refused(runs(stack, 'toolDiscovery', { ...input, heartbeatTimeoutMs: 10_000 }))).toBe(messageUnproven);
  });

  it('makes no pull request that the API has not written down', async () => {
    const input = { taskId, operationId: 'pr_0123456789abcdef', heartbeatTimeoutMs: 10_000 };
    const workflow = await stack.temporal.workflow.start('pullRequest', {
      workflowId: `pull-request/${taskId}`,
      taskQueue: 'board',
      args: [input],
    });
    expect(await workflow.result()).toMatchObject({ refused: { code: 'PULL_REQUEST_SUPERSEDED' } });
  });

  it('reads no diff of commits that a message names', async () => {
    const query = { taskId, from: { kind: 'merge-base' }, to: { kind: 'worktree' }, tips: [] };
    const input = { hostId: stack.worker.hostId, query: { ...query, read: { what: 'files', offset: 0, limit: 1 } } };
    expect(await refused(runs(stack, 'worktreeDiff', input))).toBe(messageUnproven);
  });

  it('opens no editor for a client of Temporal', async () => {
    await stack.call.ok('POST', `/api/tasks/${taskId}/worktree`, {});
    const { hostId } = stack.worker;
    expect(await refused(runs(stack, 'worktreeOpen', { taskId, hostId }))).toBe(messageUnproven);
    const worktree = join(stack.env.BOARD_DATA_DIR, 'worktrees', taskId);
    expect(existsSync(join(worktree, 'opened'))).toBe(false);
    await stack.call.ok('GET', `/api/tasks/${taskId}/worktree/open`);
    await eventually(async () => expect(existsSync(join(worktree, 'opened'))).toBe(true));
  });

  it('runs no activity that is scheduled by itself', async () => {
    const schedule = (activity: string, taskQueue: string, input: object) =>
      stack.temporal.activity.execute(activity, {
        id: `attack/${activity}/${Math.random()}`,
        taskQueue,
        args: [input],
        scheduleToCloseTimeout: '20 seconds',
      });
    const onHost = hostQueue(stack.worker.hostId);
    expect(await refused(schedule('preview', onHost, { ...forged(), hostId: null }))).toBe('ACTIVITY_FORBIDDEN');
    expect(await refused(schedule('finish', boardQueue, { attemptId: 'attempt_000000000000' }))).toBe(
      'ACTIVITY_FORBIDDEN',
    );
    expect(existsSync(marker())).toBe(false);
  });

  it('lets no workflow of another name act on a run', async () => {
    const input = { attemptId: 'attempt_000000000000', taskId, request: {}, actor: 'admin', maxRetries: 3, timings };
    expect(await refused(runs(stack, 'agentRun', input))).toBe('ACTIVITY_FORBIDDEN');
  });
});

describe('a run of a workflow', () => {
  it('lets no other worker act in its name', async () => {
    const steps = [{ id: 'asks', type: 'gate', input: 'Go on?' }];
    await stack.call.ok('POST', '/api/workflows', {
      id: 'gated',
      name: 'Gated',
      agents: [{ id: 'bee', agent: 'worker-bee' }],
      steps,
    });
    const { id: runId } = await stack.call.ok('POST', '/api/workflows/gated/runs', { taskId });
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace } = stack.env;
    const forger = await startForger({ client: stack.temporal, address, namespace }, boardQueue);
    try {
      const schedule = (activity: string, input: object) =>
        refused(forger.schedule(runWorkflowId(runId), activity, { runId, stageId: 'asks', ...input }));
      const to = { type: 'document', path: '../../escaped.md' };
      expect(await schedule('writeOutput', { to, content: 'escaped' })).toBe(messageUnproven);
      expect(await schedule('writeOutput', { to: { type: 'comment' }, content: 'Signed, the admin.' })).toBe(
        messageUnproven,
      );
      const launch = { stepId: 'asks', attempt: 1, title: 'evil', input: 'evil', agent: 'worker-bee' };
      expect(await schedule('startLaunch', launch)).toBe(messageUnproven);
      expect((await stack.call.ok('GET', `/api/tasks/${taskId}`)).comments ?? []).toEqual([]);
      expect(await refusals(stack)).toContainEqual(
        expect.objectContaining({ details: expect.objectContaining({ purpose: 'schedule-activity' }) }),
      );
    } finally {
      await forger.close();
    }
  });
});

describe('an operation on a worktree', () => {
  const operation = (taskOfIt: string, asked: AskedFor, more: object = {}): Promise<unknown> =>
    stack.temporal.workflow.execute('worktree', {
      workflowId: worktreeId(taskOfIt),
      taskQueue: boardQueue,
      args: [{ taskId: taskOfIt, heartbeatTimeoutMs: 2_000, ...asked, ...more }],
    });

  it('is done only with the proof of the API for exactly this worktree', async () => {
    const { id } = await stack.call.createTask({ title: 'A worktree', git: { repo: 'sample' } });
    const create: AskedFor = { request: { kind: 'create' }, actor: 'admin' };
    const proofs = await proofsOf(stack.env);
    const signed = (asked: AskedFor, by = proofs, of = id) =>
      withProof(by, asked, { message: operateMessage(of, asked), lifetimeMs: updateProofMs });
    const forgeries: [string, AskedFor][] = [
      ['none', create],
      ['of another key', signed(create, someProofs())],
      ['expired', signed(create, await proofsOf(stack.env, longAgo))],
      ['for another worktree', signed(create, proofs, taskId)],
      ['for another operation', { ...signed(create), request: { kind: 'cleanup', force: true } as never }],
      ['as a run of another task', { ...create, actor: 'run:attempt_000000000000' }],
    ];
    for (const [name, forged] of forgeries) {
      const outcome = await operation(id, forged);
      expect([name, outcome]).toEqual([name, expect.objectContaining({ status: 'refused', code: messageUnproven })]);
    }
    expect((await stack.call.get(`/api/tasks/${id}/worktree`)).status).toBe(404);
    const refusedUpdate = stack.temporal.workflow.executeUpdateWithStart('operate', {
      args: [create],
      startWorkflowOperation: new WithStartWorkflowOperation('worktree', {
        workflowId: worktreeId(id),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [{ taskId: id, heartbeatTimeoutMs: 2_000, request: null, actor: 'system:reconcile' }],
      }),
    });
    expect(await refused(refusedUpdate)).toBe(messageUnproven);
    expect(await operation(id, signed(create))).toMatchObject({ status: 'done' });

    // Read from a history, a message is good for two minutes: its operation is done once.
    const cleanup = { kind: 'cleanup', force: true, reason: 'because' } as const;
    const removal = signed({ request: cleanup, actor: 'admin', operationId: 'op_removal' });
    expect(await operation(id, removal)).toMatchObject({ status: 'done' });
    const again = signed({ request: { kind: 'create' }, actor: 'admin', operationId: 'op_again' });
    expect(await operation(id, again)).toMatchObject({ status: 'done' });
    await operation(id, removal);
    expect(await stack.call.ok('GET', `/api/tasks/${id}/worktree`)).toMatchObject({ state: 'ready' });
  });

  it('runs no git where a message reports that a repository is', async () => {
    const beginning = {
      taskId,
      operationId: 'op_1',
      actor: 'admin',
      request: { kind: 'create' },
      target: { repository: { name: 'evil', path: stack.dir, defaultBranch: 'main' }, branch: 'b', baseBranch: 'main' },
    };
    const fence = stack.temporal.activity.execute('beginWorktree', {
      id: 'attack/begin',
      taskQueue: hostQueue(stack.worker.hostId),
      args: [beginning],
      scheduleToCloseTimeout: '20 seconds',
    });
    expect(await refused(fence)).toBe('ACTIVITY_FORBIDDEN');
  });
});

describe('what is started directly', () => {
  const start = (type: string, workflowId: string, input: object): Promise<unknown> =>
    refused(stack.temporal.workflow.execute(type, { workflowId, taskQueue: boardQueue, args: [input] }));

  it('cancels no execution tree', async () => {
    const { taskId: id, attemptId } = await aRun(stack, 'long-bee');
    const cancel = { rootObjectiveId: attemptId, actor: 'admin', reason: 'because', keyHash: 'x' };
    expect(await start('executionTree', cancelExecutionTreeId(attemptId), cancel)).toBe(messageUnproven);
    expect((await stack.call.status(id)).state).toBe('running');
    await stack.call.ok('POST', `/api/agents/${id}/stop`, { attemptId });
    await stack.call.ended(id);
  });

  it('plans and commits no rewind', async () => {
    const { hostId } = stack.worker;
    const plan = { rewindId: 'rw1', attemptId: 'attempt_1', taskId, hostId, actor: 'admin', resolutions: [] };
    expect(await start('workspaceRewindPlan', rewindPlanId('rw1'), plan)).toBe(messageUnproven);
    const commit = { rewindId: 'rw1', attemptId: 'attempt_1', hostId };
    expect(await start('workspaceRewind', workspaceRewindId('rw1'), commit)).toBe(messageUnproven);
  });

  it('accepts no result of a run', async () => {
    const { id } = await stack.call.createTask({ title: 'Reviewed', executionPolicy: { review: 'required' } });
    const { attemptId, providerRuntimeManifestDigest } = await stack.call.start(id, { agent: 'elsewhere' });
    const end = { attemptId, providerRuntimeManifestDigest, status: 'success', summary: 'Done.' };
    await stack.call.ok('POST', `/api/agents/${id}/complete`, end);
    await stack.call.ended(id);
    const decision = { decisionId: 'review_forged', taskId: id, attemptId, actor: 'admin', delivery: 'none' };
    const forged = { ...decision, heartbeatTimeoutMs: 2_000 };
    expect(await start('reviewAcceptance', reviewAcceptanceId(attemptId), forged)).toBe(messageUnproven);
    expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({
      status: 'in-progress',
      review: { state: 'pending', attemptId },
    });
    // A result without a worktree has nothing to merge.
    await stack.call.ok('POST', `/api/tasks/${id}/review/accept`, { attemptId });
    expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({ status: 'done' });
  });

  it('gives a run no more authority', async () => {
    const { taskId: id, attemptId } = await aRun(stack, 'long-bee');
    const snapshot = () => stack.call.ok('GET', `/api/agents/${id}/phase?attemptId=${attemptId}`);
    const before = await snapshot();
    const input = {
      attemptId,
      operationId: 'op-1',
      expiresAt: new Date(Date.now() + 60_000).toISOString(),
      expected: {
        sequence: 0,
        evidenceDigest: before.evidence?.digest,
        manifestDigest: before.manifestDigest,
      },
      change: { evidence: {}, emergency: null, entry: { actor: 'admin', sequence: 1 } },
    };
    expect(await start('phaseExpansion', temporaryAuthorityId(attemptId, 'op-1'), input)).toBe(messageUnproven);
    expect(await snapshot()).toEqual(before);
    await stack.call.ok('POST', `/api/agents/${id}/stop`, { attemptId });
    await stack.call.ended(id);
  });

  it('reports no hook what did not happen', async () => {
    const context = { event: 'task.done', taskId, taskTitle: 'Forged' };
    const input = { id: 'forged/1', context, timings: { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 1_000 } };
    expect(await start('taskTransition', deliverHooksId('forged/1'), input)).toBe(messageUnproven);
  });
});

it('does what was accepted in time, however long no worker was there', async () => {
  const { id } = await stack.call.createTask({ title: 'Waits', git: { repo: 'sample' } });
  await stack.worker.close();
  const asked: AskedFor = { request: { kind: 'create' }, actor: 'admin' };
  const signed = withProof(await proofsOf(stack.env), asked, { message: operateMessage(id, asked), lifetimeMs: 1_000 });
  const handle = await stack.temporal.workflow.start('worktree', {
    workflowId: worktreeId(id),
    taskQueue: boardQueue,
    args: [{ taskId: id, heartbeatTimeoutMs: 2_000, ...signed }],
  });
  await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(signed.proof.expiresAt) + 1_000));
  await stack.anotherWorker();
  expect(await handle.result()).toMatchObject({ status: 'done' });
});
