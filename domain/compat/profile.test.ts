import {
  compatAttempt,
  compatPhaseAnswer,
  compatPhaseSnapshot,
  compatQueueEntry,
  compatRecovery,
  compatReservation,
  compatRunStatus,
  compatTask,
  compatTaskSummary,
  compatTree,
} from '../../contracts/compat';
import { queueEntry, reservation, treeSummary } from '../../contracts/runs/admission';
import { attempt } from '../../contracts/runs/attempt';
import { phaseDimension, phaseSnapshot } from '../../contracts/runs/phase';
import { runRecovery } from '../../contracts/runs/recovery';
import { type Task, task } from '../../contracts/tasks/task';
import { compatTable, createCompatProfile, type FindWorktrees } from './profile';

const at = '2026-01-01T10:00:00.000Z';
const later = '2026-01-01T11:00:00.000Z';
const attemptId = 'attempt_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const digest = `sha256:${'a'.repeat(64)}`;
const capacity = { runs: 1, processes: 1, memoryMb: 512 };
const tree = {
  schemaVersion: 'execution-tree-identity/v1' as const,
  rootObjectiveId: 'root_1',
  nodeId: 'node_1',
  parentNodeId: null,
  edge: 'root' as const,
  depth: 0,
  requested: capacity,
  remaining: capacity,
  committed: capacity,
  releasedUnused: capacity,
};
const policy = { policy: 'host', scope: 'host' as const, scopeId: 'h', resource: 'runs' as const, limit: 2 };

const noWorktrees: FindWorktrees = async () => new Map();
const present = async (operation: string, reply: unknown, own: Record<string, unknown> = {}) =>
  createCompatProfile(noWorktrees)(operation)!.present!(reply, own);

describe('table of presenters for existing clients', () => {
  it('has a contract for the outcome of each presenter', () => {
    expect(compatTable.filter((row) => row.present !== undefined && row.response === undefined)).toEqual([]);
    expect(compatTable.filter((row) => (row.query === undefined) !== (row.toQuery === undefined))).toEqual([]);
  });

  it('has nothing for other operations', () => {
    expect(createCompatProfile(noWorktrees)('getHealth')).toBeUndefined();
  });
});

describe('tasks of existing clients', () => {
  const aTask = (fields: Partial<Task>): Task =>
    task.parse({ id: 'task_20260101_abc123', title: 'A', createdAt: at, updatedAt: later, revision: 3, ...fields });

  it('have created and updated, and keep every default field', async () => {
    const one = aTask({});
    const presented = await present('getTask', one);
    expect(compatTask.parse(presented)).toEqual({ ...one, created: at, updated: later });
  });

  it('have their worktree where they name a repository, with one look-up for a whole list', async () => {
    const calls: string[][] = [];
    const worktree = {
      path: '/w',
      manifestId: 'm',
      branch: 'b',
      base: { branch: 'main', sha: 'c', source: 'local' },
      lease: { leaseId: 'l', ownerAttemptId: attemptId },
    };
    const profile = createCompatProfile(async (ids) => {
      calls.push([...ids]);
      return new Map([['task_2', worktree]]);
    });
    const tasks = [
      aTask({ id: 'task_1' }),
      aTask({ id: 'task_2', git: { repo: 'r', prNumber: 7 } }),
      aTask({ id: 'task_3', git: { repo: 'r' } }),
    ];
    const presented = (await profile('listTasks')!.present!({ tasks }, {})) as Task[];
    expect(calls).toEqual([['task_2', 'task_3']]);
    expect(presented.map(({ git }) => git)).toEqual([
      undefined,
      {
        repo: 'r',
        prNumber: 7,
        branch: 'b',
        baseBranch: 'main',
        worktreePath: '/w',
        worktreeManifestId: 'm',
        worktreeBaseCommit: 'c',
        worktreeBaseSource: 'local',
        worktreeLeaseId: 'l',
        worktreeLeaseOwnerAttemptId: attemptId,
      },
      { repo: 'r' },
    ]);
  });

  it('are summarized without what a list does not show', async () => {
    const tasks = [aTask({ description: 'long', timeTracking: { entries: [], totalSeconds: 5, isRunning: true } })];
    const [summary] = (await present('listTasks', { tasks }, { view: 'summary' })) as unknown[];
    expect(compatTaskSummary.parse(summary)).toMatchObject({ timeTracking: { totalSeconds: 5, isRunning: true } });
  });
});

describe('attempts of existing clients', () => {
  const anAttempt = (fields: object) =>
    attempt.parse({
      schemaVersion: 'attempt/v1',
      id: attemptId,
      taskId: 'task_1',
      rootAttemptId: attemptId,
      retryNumber: 0,
      agent: 'a',
      provider: 'process',
      phase: 'implement',
      commitPolicy: 'allowed',
      state: 'running',
      revision: 1,
      hostId: null,
      createdAt: at,
      createdBy: 'user:a',
      ...fields,
    });

  it.each([
    [{ state: 'queued' }, 'pending'],
    [{ state: 'dispatched' }, 'pending'],
    [{ state: 'running', startedAt: at }, 'running'],
    [{ state: 'refused' }, 'failed'],
    [{ state: 'ended', startedAt: at, endedAt: later }, 'failed'],
  ])('have one of four words as their status: %j', async (fields, status) => {
    const presented = compatAttempt.parse(await present('getAttempt', anAttempt(fields)));
    expect(presented.status).toBe(status);
    expect([presented.started, presented.ended]).toEqual([presented.startedAt, presented.endedAt]);
  });

  it('are complete after a success', async () => {
    const ended = { ...anAttempt({ state: 'ended' }), completion: { status: 'success' } };
    expect(await present('getAttempt', ended)).toMatchObject({ status: 'complete' });
    const status = { taskId: 'task_1', running: false, attempt: ended };
    expect(compatRunStatus.parse(await present('getRunStatus', status))).toMatchObject({
      status: 'complete',
      attempt: { id: attemptId, status: 'complete' },
    });
  });

  it('are listed by their ids', async () => {
    expect(await present('listAttempts', { attempts: [anAttempt({})], nextCursor: 'c' })).toEqual([attemptId]);
  });
});

describe('recoveries of existing clients', () => {
  it('name the runs before and after, the failure and the handoff', async () => {
    const record = runRecovery.parse({
      schemaVersion: 'run-recovery/v1',
      taskId: 'task_1',
      attemptId,
      rootAttemptId: attemptId,
      sequence: 1,
      failureClass: 'rate-limit',
      action: 'fallback',
      state: 'cancelled',
      reason: 'too many requests',
      retryNumber: 1,
      maxRetries: 1,
      backoffMs: 1000,
      notBefore: later,
      route: { agent: 'b', reason: 'fallback' },
      operatorHandoff: { reason: 'look', sideEffects: [], nextSafeAction: 'retry' },
      createdAt: at,
      updatedAt: later,
      revision: 2,
    });
    const presented = compatRecovery.parse(await present('cancelRunRecovery', record));
    expect(presented).toEqual({
      ...record,
      rootRunId: attemptId,
      parentRunId: attemptId,
      fallbackUsed: true,
      failure: {
        classification: 'rate-limit',
        summary: 'too many requests',
        retryable: true,
        approvalRequired: false,
        destructiveSideEffects: false,
      },
      scheduledAt: at,
      cancelledAt: later,
      selectedAgent: 'b',
      routingDecision: 'fallback',
      handoff: { summary: 'look', nextActions: ['retry'] },
    });
    expect(await present('getRunRecovery', null)).toBeNull();
    expect(await present('listRecoveries', { recoveries: [record] })).toEqual([presented]);
  });
});

describe('phases of existing clients', () => {
  const evidence = {
    schemaVersion: 'phase-capability-evidence/v1',
    phase: 'publish',
    mode: 'profile',
    dimensions: Object.fromEntries(
      phaseDimension.options.map((dimension) => [
        dimension,
        {
          scopes: ['*'],
          approval: dimension === 'external.action' ? ['mutate'] : [],
          enforcement: 'enforced',
          limitedBy: [],
        },
      ]),
    ),
    digest,
  };
  const transition = {
    sequence: 1,
    operationId: 'op',
    kind: 'transition',
    comparison: 'wider',
    fromEvidenceDigest: digest,
    evidence,
    reason: 'r',
    actor: 'user:a',
    at,
    approvalId: `runapproval_${'0'.repeat(32)}`,
  };
  const snapshot = phaseSnapshot.parse({
    schemaVersion: 'phase-snapshot/v1',
    taskId: 'task_1',
    attemptId,
    launchPhase: 'explore',
    evidence,
    manifestDigest: digest,
    sequence: 1,
    emergency: null,
    history: [transition],
  });

  it('have one map of scopes and one of enforcement', async () => {
    const presented = compatPhaseSnapshot.parse(await present('getRunPhase', snapshot));
    expect(presented).toMatchObject({ ...snapshot, transitionSequence: 1 });
    expect(presented.effectiveEvidence).toMatchObject({
      identity: { mode: 'profile', phase: 'publish' },
      effectiveAuthority: { 'filesystem.read': ['*'] },
      enforcement: { 'filesystem.read': 'enforced' },
      approvalRequiredDimensions: ['external.action'],
    });
    expect(presented.history[0]).toMatchObject({ policyDecision: 'approved-expansion', createdAt: at });
  });

  it('have the transition as current once it is applied, and null before', async () => {
    const applied = { status: 'applied', comparison: 'wider', transition: snapshot.history[0], snapshot };
    expect(compatPhaseAnswer.parse(await present('transitionRunPhase', applied))).toMatchObject({
      current: { sequence: 1 },
      record: { sequence: 1 },
      targetEvidenceDigest: digest,
    });
    const waiting = { status: 'approval-required', approvalId: 'x', approval: {}, targetEvidence: snapshot.evidence };
    expect(compatPhaseAnswer.parse(await present('transitionRunPhase', waiting))).toMatchObject({
      current: null,
      targetEvidenceDigest: digest,
    });
  });
});

describe('admission of existing clients', () => {
  const reserved = reservation.parse({
    schemaVersion: 'admission-reservation/v1',
    id: 'reservation_1',
    state: 'active',
    revision: 1,
    request: {
      version: 1,
      source: 'workflow',
      taskId: 'task_1',
      attemptId,
      workspaceId: 'local',
      rootTaskId: 'task_1',
      agent: 'a',
      provider: 'process',
      hostId: null,
      phase: 'implement',
      priority: 1,
      requestedAt: at,
    },
    requested: capacity,
    policies: [policy],
    attempt: { taskId: 'task_1', attemptId },
    tree,
    workflow: { runId: 'run_1', stepId: 's' },
    lease: { heartbeatAt: at, expiresAt: later },
    release: null,
    createdAt: at,
    updatedAt: at,
  });
  const queued = queueEntry.parse({
    id: 'queue_1',
    revision: 1,
    state: 'queued',
    taskId: 'task_1',
    attemptId,
    workspaceId: 'local',
    rootTask: 'hash',
    host: null,
    agent: 'a',
    provider: 'process',
    phase: 'implement',
    source: 'direct',
    tree,
    priority: 1,
    effectivePriority: 0,
    requested: capacity,
    enqueuedAt: at,
    ageMs: 5,
    retries: 0,
    retryAfterMs: 5000,
    readiness: 'blocked',
    notBefore: null,
    limitingScopes: [],
    limitingPolicies: [policy],
    selection: null,
    outcome: null,
  });
  const named = { runSlots: 1, processSlots: 1, estimatedMemoryMb: 512 };

  it('has slots and the tree in the request of a reservation', async () => {
    const reply = { generatedAt: at, reservations: [reserved] };
    const { reservations } = (await present('listReservations', reply)) as { reservations: unknown[] };
    const presented = compatReservation.parse(reservations[0]);
    expect(presented).toMatchObject({
      ...reserved,
      attemptId,
      request: {
        requested: named,
        workflowRunId: 'run_1',
        workflowStepId: 's',
        executionTree: { rootObjectiveId: 'root_1' },
      },
    });
    expect(presented.policies).toEqual([{ ...policy, id: 'host', limits: { concurrentRuns: 2 } }]);
  });

  it('has posture, navigation and start factors in an entry of the queue', async () => {
    const reply = { conditional: true, entry: queued };
    const { entry } = (await present('inspectQueueEntry', reply)) as { entry: unknown };
    expect(compatQueueEntry.parse(entry)).toMatchObject({
      rawPriority: 1,
      effectivePriority: 0,
      agePromotion: 1,
      lease: { posture: 'none' },
      launch: { source: 'direct', target: 'agent-launch' },
      navigation: { taskId: 'task_1', attemptId },
      retry: { count: 0, availableAt: at },
      conditionalStartFactors: ['capacity-available'],
    });
    expect(await present('cancelQueueEntry', reply)).toMatchObject({ queueEntry: { id: 'queue_1' } });
  });

  it('has slots in the summary of a tree, and its control with when it was recorded', async () => {
    const summary = treeSummary.parse({
      schemaVersion: 'execution-tree-summary/v1',
      rootObjectiveId: 'root_1',
      workspaceId: 'local',
      state: 'open',
      control: {
        schemaVersion: 'execution-tree-control/v1',
        state: 'open',
        revision: 2,
        action: 'resume',
        actor: 'user:a',
        reason: 'pressure is gone',
        at,
        signals: [],
      },
      descendants: 1,
      queued: 0,
      committed: capacity,
      reserved: capacity,
      policies: [],
      contributors: [],
      contributorCount: 0,
      truncated: false,
      generatedAt: at,
    });
    const presented = compatTree.parse(await present('resumeExecutionTree', summary));
    expect(presented).toMatchObject({
      committed: named,
      reserved: named,
      control: { recordedAt: at },
      resumedAt: at,
      resumeReason: 'pressure is gone',
    });
  });
});
