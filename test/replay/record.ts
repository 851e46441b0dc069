/**
 * Records one history for each scenario of each workflow into `test/replay/histories`, from the service as it is built
 * now. Run before a change to a workflow (`npm run record:histories`), so that the change can be replayed against it.
 * With the names of groups (`npm run record:histories -- approvals`) only theirs are recorded.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir } from '../../platform/testing/temp-dir';
import type { ApprovalRequest } from '../../contracts/run-approval';
import { agentRunId, commandUpdate, completeUpdate, stopUpdate } from '../../workflows/agent-run/messages';
import { boardQueue } from '../../workflows/queues';
import { phaseExpansionId } from '../../workflows/phase-expansion/messages';
import { runApprovalId } from '../../workflows/run-approval/messages';
import { executionTreeId } from '../../workflows/execution-tree/messages';
import { rewindPlanId, workspaceRewindId } from '../../workflows/workspace-rewind/messages';
import { worktreeId } from '../../workflows/worktree/messages';
import { outputCleanupId } from '../../workflows/output-cleanup/messages';
import { reconcileId } from '../../workflows/reconcile/messages';
import { recoveryId } from '../../workflows/recovery/messages';
import { schedulerId } from '../../workflows/admission-scheduler/messages';
import { anApprovalRequest, aRequester, aWaitingRun } from '../support/approvals';
import { scriptAgent } from '../support/caller';
import { gitBreakpoints, type GitBreakpoints } from '../support/git-breakpoints';
import { confinedAgent, inMs, readPhase, transitionOf } from '../support/phases';
import { aRemoteRepository, commitIn } from '../support/remote-repository';
import { aRepository, git } from '../support/repository';
import { aTurn, anEditorRun, decideApproval, requestRewind } from '../support/rewinds';
import { startService, type Service } from '../support/service';

const histories = join(__dirname, 'histories');

async function main(): Promise<void> {
  const files = await makeTempDir('record');
  const breakpoints = await gitBreakpoints(files.path);
  const service = await startService({
    BOARD_MAX_RUNS: '2',
    BOARD_RETRY_BACKOFF_MS: '5000',
    BOARD_CHECKPOINT_INTERVAL_MS: '200',
    PATH: breakpoints.path,
    // Where nothing answers: questions to hosts are recorded as the workflows they are without it.
    TEMPORAL_HTTP_ADDRESS: '127.0.0.1:1',
  });
  const connection = await Connection.connect({ address: service.temporalAddress });
  const temporal = new Client({ connection });
  try {
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([
      scriptAgent('worker-bee'),
      scriptAgent('editor'),
      scriptAgent('listener'),
      {
        type: 'scripted',
        name: 'Scripted',
        provider: 'acp',
        command: process.execPath,
        args: [resolve(__dirname, '../../examples/acp-agent/agent.mjs'), '--state', join(files.path, 'sessions')],
      },
      { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
      { ...scriptAgent('worker-bee', '600', '50'), type: 'lasting-bee', reattach: true },
      { ...scriptAgent('misbehaving', 'exits-1'), type: 'failing' },
      { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
    await mkdir(histories, { recursive: true });
    const groups: Record<string, () => Promise<(readonly [name: string, workflowId: string])[]>> = {
      runs: () => scenarios(service, temporal),
      worktrees: async () => [
        ...(await worktreeScenarios(service, temporal, files.path)),
        ['worktree-interrupted', await interruptedWorktree(service, temporal, breakpoints)],
      ],
      approvals: () => approvalScenarios(service, temporal),
      phases: () => phaseScenarios(service),
      admission: () => admissionScenarios(service),
      timeouts: () => timeoutScenarios(service),
      rewinds: () => rewindScenarios(service),
      trust: () => trustScenarios(service, temporal),
      commands: () => commandScenarios(service, temporal),
      conversations: () => conversationScenarios(service),
      lost: () => lostScenarios(service, temporal),
      reattached: () => reattachedScenarios(service),
    };
    const chosen = process.argv.slice(2);
    const recorded: (readonly [name: string, workflowId: string])[] = [];
    for (const [group, record] of Object.entries(groups)) {
      if (chosen.length === 0 || chosen.includes(group)) recorded.push(...(await record()));
    }
    for (const [name, workflowId] of recorded) {
      await temporal.workflow.getHandle(workflowId).result();
      const history = await temporal.workflow.getHandle(workflowId).fetchHistory();
      await writeFile(join(histories, `${name}.json`), historyToJSON(history));
      process.stdout.write(`${name}: ${history.events?.length ?? 0} events\n`);
    }
  } finally {
    await connection.close();
    await service.close();
    await files.remove();
  }
}

/** Plays every way a workflow can go, and answers the workflow of each. */
async function scenarios(service: Service, temporal: Client): Promise<[name: string, workflowId: string][]> {
  const { call } = service;
  const aTask = () => call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  const launch = async (agent: string) => {
    const task = await aTask();
    // A busy machine may take longer to answer than a caller waits.
    const key = { 'x-idempotency-key': `recorded-${task.id}` };
    const { attemptId } = await eventually(() => call.start(task.id, { agent }, key), { withinMs: 60_000 });
    return { taskId: task.id as string, attemptId: attemptId as string };
  };
  const stop = ({ taskId, attemptId }: { taskId: string; attemptId: string }) =>
    call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
  const working = ({ taskId }: { taskId: string }) =>
    eventually(async () => {
      const { lastSequence } = await call.status(taskId);
      if (lastSequence < 3) throw new Error('not working yet');
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
  if (answer.status !== 409) throw new Error(`expected a refusal, not ${answer.status}`);
  const refusedRun = await refusedWorkflow(temporal, refused.id);

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
    if (status.name !== 'COMPLETED') throw new Error('the scheduler still waits');
  });

  const lost = await launch('long-bee');
  await working(lost);
  process.kill(service.pids().worker ?? 0, 'SIGKILL');
  const retry = await eventually(
    async () => {
      const { attemptId } = await call.status(lost.taskId);
      if (attemptId === lost.attemptId) throw new Error('not retried yet');
      return { taskId: lost.taskId, attemptId: attemptId as string };
    },
    { withinMs: 60_000 },
  );
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

/** A launch that waits and goes on, and a tree that is cancelled. */
async function admissionScenarios({ call }: Service): Promise<[name: string, workflowId: string][]> {
  const launch = async () => {
    const task = await call.createTask({ title: 'Recorded' });
    const { attemptId } = await call.start(task.id, { agent: 'elsewhere' });
    return { taskId: task.id as string, attemptId: attemptId as string };
  };
  const first = await launch();
  const second = await launch();
  const waiting = await launch();
  await call.ok('POST', `/api/agents/${first.taskId}/stop`, { attemptId: first.attemptId });
  await eventually(async () => {
    const { state } = await call.status(waiting.taskId);
    if (state !== 'running') throw new Error('still queued');
  });
  const cancel = { idempotencyKey: 'recorded-cancel', reason: 'recorded' };
  for (const { attemptId } of [second, waiting]) {
    await call.ok('POST', `/api/admission/tree/${attemptId}/cancel`, cancel);
  }
  return [
    ['agent-run-queue-confirmed', agentRunId(waiting.attemptId)],
    ['execution-tree-cancel', executionTreeId(second.attemptId)],
  ];
}

/** Runs that have a minute: one that needs less, and one that nobody ends. */
async function timeoutScenarios({ call }: Service): Promise<[name: string, workflowId: string][]> {
  await call.ok('PATCH', '/api/settings/features', { agents: { timeoutMinutes: 1 } });
  const launch = async (agent: string): Promise<string> => {
    const task = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
    const { attemptId } = await eventually(() => call.start(task.id, { agent }), { withinMs: 60_000 });
    return attemptId;
  };
  const inTime = await launch('worker-bee');
  const overtime = await launch('elsewhere');
  await call.ok('PATCH', '/api/settings/features', { agents: { timeoutMinutes: 240 } });
  return [
    ['agent-run-in-time', agentRunId(inTime)],
    ['agent-run-timed-out', agentRunId(overtime)],
  ];
}

/** What is said to a run by callers and from the Temporal UI, also when nobody is left to hear it. */
async function commandScenarios(service: Service, temporal: Client): Promise<[name: string, workflowId: string][]> {
  const { call } = service;
  const launch = async (agent: string) => {
    const task = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
    const key = { 'x-idempotency-key': `recorded-${task.id}` };
    const { attemptId } = await eventually(() => call.start(task.id, { agent }, key), { withinMs: 60_000 });
    const say = (verb: string, message?: string) =>
      call.ok(
        'POST',
        `/api/agents/${task.id}/${verb}`,
        { attemptId, ...(message === undefined ? {} : { message }) },
        { 'x-idempotency-key': `recorded-${task.id}-${verb}` },
      );
    const run = { taskId: task.id as string, attemptId: attemptId as string };
    return { ...run, say, handle: temporal.workflow.getHandle(agentRunId(run.attemptId)) };
  };
  const spoken = await launch('listener');
  await Promise.all([spoken.say('message', 'one'), spoken.say('conversation/steer', 'two')]);
  const steer = { attemptId: spoken.attemptId, type: 'steer', message: 'three', actor: 'olivia' } as const;
  await spoken.handle.executeUpdate(commandUpdate, { args: [steer] });
  await spoken.say('conversation/interrupt');
  await call.ended(spoken.taskId);

  const stopped = await launch('listener');
  await stopped.say('message', 'one');
  await stopped.handle.executeUpdate(stopUpdate, { args: [{ attemptId: stopped.attemptId, actor: 'olivia' }] });

  const remote = await launch('elsewhere');
  await remote.say('message', 'is only recorded');
  const end = { attemptId: remote.attemptId, status: 'blocked', summary: 'It is gone.', actor: 'olivia' } as const;
  await remote.handle.executeUpdate(completeUpdate, { args: [end] });

  const reported = await launch('elsewhere');
  await call.ok('POST', `/api/agents/${reported.taskId}/complete`, { attemptId: reported.attemptId, success: true });

  const unheard = await launch('listener');
  await eventually(async () => {
    const { lastSequence } = await call.status(unheard.taskId);
    if (lastSequence < 2) throw new Error('not listening yet');
  });
  process.kill(service.pids().worker ?? 0, 'SIGKILL');
  const answer = await eventually(() => unheard.say('conversation/steer', 'anybody?'), { withinMs: 60_000 });
  if (answer.reason !== 'agent-lost') throw new Error(`expected a lost agent, not ${answer.reason}`);
  const { attemptId } = await eventually(
    async () => {
      const status = await call.status(unheard.taskId);
      if (status.attemptId === unheard.attemptId) throw new Error('not retried yet');
      return status;
    },
    { withinMs: 60_000 },
  );
  await call.ok('POST', `/api/agents/${unheard.taskId}/stop`, { attemptId });
  return [
    ['agent-run-commands', agentRunId(spoken.attemptId)],
    ['agent-run-stopped-by-operator', agentRunId(stopped.attemptId)],
    ['agent-run-completed-by-operator', agentRunId(remote.attemptId)],
    ['agent-run-remote-observed', agentRunId(reported.attemptId)],
    ['agent-run-command-lost', agentRunId(unheard.attemptId)],
  ];
}

/** Runs that go on with the session of an earlier one. */
async function conversationScenarios({ call }: Service): Promise<[name: string, workflowId: string][]> {
  const edges = ['resume', 'follow-up'] as const;
  const recorded: [name: string, workflowId: string][] = [];
  for (const edge of edges) {
    const description = 'say first';
    const task = await call.createTask({ title: 'Recorded', description, git: { repo: 'sample' } });
    const { attemptId: sourceAttemptId } = await call.start(task.id, { agent: 'scripted' });
    await call.ended(task.id);
    const body = { sourceAttemptId, message: 'wait 60000' };
    const { attemptId } = await call.ok('POST', `/api/agents/${task.id}/conversation/${edge}`, body);
    await call.ok('POST', `/api/agents/${task.id}/conversation/steer`, { attemptId, message: 'say Steered.' });
    await eventually(async () => {
      const status = await call.status(task.id);
      if (status.attemptId !== attemptId || status.state !== 'ended') throw new Error(`${edge} goes on`);
    });
    recorded.push([`agent-run-${edge}`, agentRunId(attemptId)]);
  }
  return recorded;
}

/** Every operation on a worktree, each on a task of its own, and the ways it can be refused. */
async function worktreeScenarios(
  service: Service,
  temporal: Client,
  dir: string,
): Promise<[name: string, workflowId: string][]> {
  const { call } = service;
  const shop = await aRemoteRepository(dir);
  await call.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path, remote: 'origin' });
  const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;
  const aWorktree = async (): Promise<{ id: string; path: string }> => {
    const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'shop' } });
    const { path } = await call.ok('POST', url(id), {});
    await commitIn(path, `${id}.txt`);
    return { id, path };
  };
  const created = await aWorktree();
  const rebased = await aWorktree();
  await shop.othersPush('other.txt');
  await call.ok('POST', url(rebased.id, '/rebase'), {});
  const refused = await aWorktree();
  await call.post(url(refused.id, '/merge'), { expectedHead: 'a'.repeat(40) });
  const merged = await aWorktree();
  await call.ok('POST', url(merged.id, '/merge'), {});
  const removed = await aWorktree();
  await call.ok('DELETE', url(removed.id, '?force=true&reason=recorded'));
  const resumed = await aWorktree();
  await temporal.workflow.execute('worktree', {
    workflowId: worktreeId(resumed.id),
    taskQueue: boardQueue,
    args: [{ taskId: resumed.id, actor: 'system:reconcile', request: null, heartbeatTimeoutMs: 2_000 }],
  });
  const legacy = { repo: 'shop', branch: 'legacy', worktreePath: join(dir, 'legacy') };
  await git(shop.path, 'worktree', 'add', '--quiet', '-b', legacy.branch, legacy.worktreePath, 'origin/main');
  const adopted = await call.createTask({ title: 'Recorded', git: legacy });
  await call.ok('POST', url(adopted.id, '/adopt'), {});
  await call.ok('GET', url(created.id));
  await call.send('GET', url(created.id, '/open'));
  return [
    ['worktree-create', worktreeId(created.id)],
    ['worktree-adopt', worktreeId(adopted.id)],
    ['worktree-rebase', worktreeId(rebased.id)],
    ['worktree-merge-refused', worktreeId(refused.id)],
    ['worktree-merge', worktreeId(merged.id)],
    ['worktree-cleanup', worktreeId(removed.id)],
    ['worktree-resumed', worktreeId(resumed.id)],
    ['worktree-inspection', await latestWorkflow(temporal, 'worktreeInspection')],
    ['worktree-open', await latestWorkflow(temporal, 'worktreeOpen')],
  ];
}

/**
 * A creation that lost its worker and its workflow while git was at work, and is finished by the one that looks after
 * such things when a worker starts.
 */
async function interruptedWorktree(service: Service, temporal: Client, breakpoints: GitBreakpoints): Promise<string> {
  const { call } = service;
  const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'shop' } });
  await breakpoints.set('interrupted', 'before', `*${id}*reset --hard*`);
  const asked = call.post(`/api/tasks/${id}/worktree`, {});
  await breakpoints.reached('interrupted');
  await temporal.workflow.getHandle(worktreeId(id)).terminate('its history is lost');
  await asked;
  process.kill(service.pids().worker ?? 0, 'SIGKILL');
  await breakpoints.clear();
  await eventually(
    async () => {
      const { state } = await call.ok('GET', `/api/tasks/${id}/worktree`);
      if (state !== 'ready') throw new Error(`the worktree is ${state}`);
    },
    { withinMs: 60_000 },
  );
  return worktreeId(id);
}

/** A worktree that goes back, and one that has changed since it was planned. */
async function rewindScenarios({ call }: Service): Promise<[name: string, workflowId: string][]> {
  const run = await anEditorRun(call);
  const target = await aTurn(call, run, 'write a.txt one', { 'a.txt': 'one' });
  const latest = await aTurn(call, run, 'write a.txt two', { 'a.txt': 'two' });
  const approved = async (requestId: string) => {
    const { body } = await requestRewind(call, run, target, latest, requestId);
    await decideApproval(call, body.approval, 'approved');
    return body.rewind.id as string;
  };
  const [refused, committed] = [await approved('recorded-1'), await approved('recorded-2')];
  await writeFile(join(run.path, 'by-hand.txt'), 'x');
  await requestRewind(call, run, target, latest, 'recorded-1');
  await rm(join(run.path, 'by-hand.txt'));
  await requestRewind(call, run, target, latest, 'recorded-2');
  await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  return [
    ['workspace-rewind-plan', rewindPlanId(committed)],
    ['workspace-rewind-refused', workspaceRewindId(refused)],
    ['workspace-rewind-committed', workspaceRewindId(committed)],
  ];
}

/** A look at what a workspace brings. */
async function trustScenarios({ call }: Service, temporal: Client): Promise<[name: string, workflowId: string][]> {
  const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  await call.ok('GET', `/api/agents/${id}/workspace-trust`);
  return [['workspace-inventory', await latestWorkflow(temporal, 'workspaceInventory')]];
}

/** A run whose workflow was terminated while its agent worked, and the look that found it. */
async function lostScenarios({ call }: Service, temporal: Client): Promise<[name: string, workflowId: string][]> {
  const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  const { attemptId } = await call.start(id, { agent: 'long-bee' });
  await eventually(async () => {
    if ((await call.status(id)).lastSequence < 3) throw new Error('not working yet');
  });
  await temporal.workflow.getHandle(agentRunId(attemptId)).terminate('recorded');
  await temporal.schedule.getHandle(reconcileId).trigger();
  await call.ended(id);
  const look = await eventually(async () => {
    for await (const { workflowId } of temporal.workflow.list({
      query: 'WorkflowType = "reconcile" AND ExecutionStatus = "Completed"',
    }))
      return workflowId;
    throw new Error('nobody has looked yet');
  });
  return [
    ['agent-run-taken-up', agentRunId(attemptId)],
    ['reconcile', look],
  ];
}

/** An agent that outlives two workers and is stopped then, and one that is killed while no worker is there. */
async function reattachedScenarios(service: Service): Promise<[name: string, workflowId: string][]> {
  const { call } = service;
  const recovered = async (taskId: string, attemptId: string) =>
    (await call.events(taskId, attemptId)).filter(({ kind }) => kind === 'run.recovered').length;
  const launch = async () => {
    const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
    const { attemptId } = await call.start(id, { agent: 'lasting-bee' });
    await eventually(
      async () => {
        if ((await call.status(id)).lastSequence < 3) throw new Error('not working yet');
      },
      { withinMs: 30_000 },
    );
    return { id: id as string, attemptId: attemptId as string };
  };
  const kept = await launch();
  const gone = await launch();
  const events = await call.events(gone.id, gone.attemptId);
  const holder = events.find(({ kind }) => kind === 'run.started').payload.pid as number;
  for (const times of [1, 2]) {
    process.kill(service.pids().worker ?? 0, 'SIGKILL');
    if (times === 1) process.kill(-holder, 'SIGKILL');
    await eventually(
      async () => {
        if ((await recovered(kept.id, kept.attemptId)) < times) throw new Error('nobody goes on with it yet');
      },
      { withinMs: 60_000 },
    );
  }
  await call.ok('POST', `/api/agents/${kept.id}/stop`, { attemptId: kept.attemptId });
  const retry = await eventually(
    async () => {
      const { attemptId } = await call.status(gone.id);
      if (attemptId === gone.attemptId) throw new Error('not retried yet');
      return attemptId as string;
    },
    { withinMs: 60_000 },
  );
  await eventually(() => call.ok('POST', `/api/agents/${gone.id}/stop`, { attemptId: retry }), { withinMs: 30_000 });
  return [
    ['agent-run-reattached', agentRunId(kept.attemptId)],
    ['agent-run-not-reattached', agentRunId(gone.attemptId)],
  ];
}

/** Every way a request for approval can end, and the run that waited meanwhile. */
async function approvalScenarios(service: Service, temporal: Client): Promise<[name: string, workflowId: string][]> {
  const { call } = service;
  const { approvals, close } = await aRequester(temporal, { dataDir: service.dataDir });
  try {
    const run = await aWaitingRun(call);
    const ask = (providerRequestId: string, fields: Partial<ApprovalRequest> = {}) =>
      approvals.request(anApprovalRequest(run, { providerRequestId, ...fields }));
    const expired = await ask('expired', { lifetimeMs: 1_000 });
    const decided = await ask('decided');
    await call.ok('POST', `/api/run-approvals/${decided.id}/decision`, {
      decision: 'approved',
      expectedRevision: 1,
      expectedActionHash: decided.actionHash,
    });
    await approvals.settled(expired.id, AbortSignal.timeout(20_000));
    const cancelled = await ask('cancelled');
    await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
    return [
      ['run-approval-decided', runApprovalId(decided.id)],
      ['run-approval-expired', runApprovalId(expired.id)],
      ['run-approval-cancelled', runApprovalId(cancelled.id)],
      ['agent-run-approvals', agentRunId(run.attemptId)],
    ];
  } finally {
    await close();
  }
}

/** An emergency that ended, and one that was decided on a state that was gone. */
async function phaseScenarios({ call }: Service): Promise<[name: string, workflowId: string][]> {
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

const refusedWorkflow = (temporal: Client, taskId: string) =>
  latestWorkflow(temporal, 'agentRun', `AND BoardTaskId = "${taskId}"`);

/** The workflow id of the newest execution of a type, once visibility shows it. */
const latestWorkflow = (temporal: Client, type: string, filter = ''): Promise<string> =>
  eventually(async () => {
    for await (const { workflowId } of temporal.workflow.list({ query: `WorkflowType = "${type}" ${filter}` }))
      return workflowId;
    throw new Error(`no ${type} yet`);
  });

void main();
