import type { Goal } from '../../../contracts/governance/goals/goal';
import { aGoal } from '../../support/factories/goal';
import { aCompletion, anAttempt } from '../../support/factories/records';
import { agentKey, type ApiUnderTest, readKey, type Reply, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
let taskId: string;
beforeAll(async () => {
  board = await startWholeTestApi();
  taskId = (await board.createTask()).id;
});
afterAll(() => board.close());

const create = (fields: object = {}) => board.call('POST', '/api/goals', { body: aGoal(taskId, fields) });
const created = async (fields: object = {}): Promise<Goal> => (await create(fields)).body as Goal;
const post = (goal: Pick<Goal, 'id'>, verb: string, body: object): Promise<Reply> =>
  board.call('POST', `/api/goals/${goal.id}/${verb}`, { body });
const transition = (goal: Goal, state: string, fields: object = {}): Promise<Reply> =>
  post(goal, 'transition', { expectedRevision: goal.revision, state, reason: 'Because of the test', ...fields });
const blocker = { code: 'NO_DISK', summary: 'The disk is full', nextSafeAction: 'Free some space' };
const evidence = { requirementId: 'tests', evidenceId: 'ci-7', summary: 'All passed' };
const issuePaths = ({ body }: Reply): string[] => body.details.issues.map(({ path }: { path: string }) => path);

/** An attempt of the task in the stores. */
async function anEndedAttempt(id: string, fields: object = {}): Promise<string> {
  await board.api.context.attempts.create(
    anAttempt(id, { taskId, state: 'ended', completion: { ...aCompletion('Done'), claims: {} }, ...fields }),
  );
  return id;
}

describe('goals', () => {
  it('are created active, with what they were asked for and nothing done yet', async () => {
    const reply = await create({ budgets: { totalTokens: 100 }, constraints: ['No new packages'] });
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({
      schemaVersion: 'durable-goal/v1',
      id: expect.stringMatching(/^goal_/),
      workspaceId: 'local',
      state: 'active',
      revision: 1,
      root: { kind: 'task', taskId },
      constraints: ['No new packages'],
      continuation: { mode: 'manual', maxTurns: 10, maxRollovers: 3, requireApprovalForRollover: false },
      budgets: { totalTokens: 100 },
      usage: { totalTokens: 0, costUsd: 0 },
      currentRun: null,
      completionRequirements: [{ id: 'tests', required: true }],
      terminalReason: null,
    });
    const read = await board.call('GET', `/api/goals/${reply.body.id}`);
    expect(read.body).toEqual(reply.body);
    expect(read.headers.get('x-resource-revision')).toBe('1');
  });

  it.each<[string, object, string]>([
    ['a task that is not there', { root: { kind: 'task', taskId: 'task_20260101_nobody' } }, 'root.taskId'],
    ['a workflow as its root', { root: { kind: 'workflow', workflowId: 'w' } }, 'root.kind'],
    ['a budget that nothing measures', { budgets: { idleRuntimeSeconds: 5 } }, 'budgets.idleRuntimeSeconds'],
    ['a budget of nothing', { budgets: { retries: 0 } }, 'budgets.retries'],
    ['an objective that is too long', { objective: 'x'.repeat(50_001) }, 'objective'],
    ['too many constraints', { constraints: Array.from({ length: 201 }, () => 'x') }, 'constraints'],
    ['no acceptance criteria', { acceptanceCriteria: [] }, 'acceptanceCriteria'],
    ['no requirements', { completionRequirements: [] }, 'completionRequirements'],
    [
      'requirements of one id',
      { completionRequirements: [...aGoal('x').completionRequirements, ...aGoal('x').completionRequirements] },
      'completionRequirements',
    ],
    ['fields that there are none of', { urgent: true }, 'urgent'],
  ])('are refused with %s', async (_what, fields, path) => {
    const reply = await create(fields);
    expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(issuePaths(reply)).toContain(path);
  });

  it('are read by agents and changed by administrators alone', async () => {
    const goal = await created();
    for (const key of [agentKey, readKey]) {
      expect((await board.call('GET', `/api/goals/${goal.id}`, { key })).status).toBe(200);
      expect((await board.call('POST', '/api/goals', { key, body: aGoal(taskId) })).status).toBe(403);
      for (const verb of ['transition', 'runs', 'rollover']) {
        const body = { expectedRevision: 1, taskId, state: 'paused', reason: 'Because of the test' };
        expect((await board.call('POST', `/api/goals/${goal.id}/${verb}`, { key, body })).status).toBe(403);
      }
    }
  });

  it('are listed by states, separated by commas or repeated, and by root', async () => {
    const own = (await board.createTask()).id;
    const goals = [
      await created({ root: { kind: 'task', taskId: own } }),
      await created({ root: { kind: 'task', taskId: own } }),
    ];
    const [, paused] = goals;
    await transition(paused as Goal, 'paused');
    const listed = async (query: string): Promise<string[]> =>
      (await board.call('GET', `/api/goals?rootTaskId=${own}${query}`)).body.goals.map(({ id }: Goal) => id);
    expect(await listed('')).toEqual(goals.map(({ id }) => id).reverse());
    expect(await listed('&state=paused')).toEqual([paused?.id]);
    expect(await listed('&state=active,paused')).toHaveLength(2);
    expect(await listed('&state=active&state=paused')).toHaveLength(2);
    expect(await listed('&state=failed')).toEqual([]);
    for (const query of ['state=lost', 'limit=0', 'limit=1001', 'rootWorkflowId=w']) {
      expect([query, (await board.call('GET', `/api/goals?${query}`)).status]).toEqual([query, 400]);
    }
  });

  it('change their state at the revision that the caller has seen, and record why', async () => {
    const goal = await created();
    const paused = await transition(goal, 'paused');
    expect(paused.body).toMatchObject({
      state: 'paused',
      revision: 2,
      transitions: [{ from: 'active', to: 'paused', reason: 'Because of the test', actor: expect.any(String) }],
    });
    const stale = await transition(goal, 'blocked', { blocker });
    expect(stale).toMatchObject({ status: 409, body: { code: 'CONFLICT', details: { currentRevision: 2 } } });
    expect(stale.body.details.current.state).toBe('paused');
    const blocked = await transition(paused.body as Goal, 'blocked', { blocker });
    expect(blocked.body.blockers).toMatchObject([{ id: 'blocker_1', ...blocker, attempts: 1 }]);
    expect(await transition(blocked.body as Goal, 'blocked', { blocker })).toMatchObject({ status: 409 });
  });

  it('of ten transitions at once do one', async () => {
    const goal = await created();
    const replies = await Promise.all(Array.from({ length: 10 }, () => transition(goal, 'paused')));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect((await board.call('GET', `/api/goals/${goal.id}`)).body.transitions).toHaveLength(1);
  });

  it.each<[string, string, object, string]>([
    ['blocked without a blocker', 'blocked', {}, 'blocker'],
    ['paused with a blocker', 'paused', { blocker }, 'blocker'],
    ['a short reason', 'paused', { reason: 'short' }, 'reason'],
    [
      'evidence of nothing that is required',
      'paused',
      { completionEvidence: [{ ...evidence, requirementId: 'x' }] },
      'completionEvidence.0.requirementId',
    ],
    [
      'evidence that names its verifier',
      'paused',
      { completionEvidence: [{ ...evidence, verifier: 'me' }] },
      'completionEvidence.0.verifier',
    ],
  ])('do not change with %s', async (_what, state, fields, path) => {
    const reply = await transition(await created(), state, fields);
    expect(reply.status).toBe(400);
    expect(issuePaths(reply)).toContain(path);
  });

  it('are complete with evidence for every required requirement, and then for good', async () => {
    const requirements = [
      { id: 'tests', description: 'The tests pass', verificationKind: 'test' },
      { id: 'signed', description: 'Somebody has signed', verificationKind: 'operator' },
      { id: 'praised', description: 'Somebody liked it', verificationKind: 'other', required: false },
    ];
    const goal = await created({ completionRequirements: requirements });
    const missing = await transition(goal, 'complete', { completionEvidence: [evidence] });
    expect(missing).toMatchObject({ status: 400, body: { details: { missingRequirementIds: ['signed'] } } });
    const first = await transition(goal, 'paused', { completionEvidence: [evidence] });
    const signed = [{ ...evidence, requirementId: 'signed' }];
    const complete = await transition(first.body as Goal, 'complete', { completionEvidence: signed });
    expect(complete.body).toMatchObject({
      state: 'complete',
      terminalReason: 'Because of the test',
      completionEvidence: [
        { requirementId: 'tests', verifier: expect.any(String), verifiedAt: expect.any(String) },
        { requirementId: 'signed' },
      ],
    });
    for (const body of [{ state: 'active' }, { state: 'failed' }]) {
      const after = await transition(complete.body as Goal, body.state);
      expect(after).toMatchObject({ status: 409, body: { code: 'GOAL_TERMINAL' } });
    }
    const { revision: expectedRevision } = complete.body as Goal;
    expect(await post(goal, 'rollover', { expectedRevision })).toMatchObject({
      status: 409,
      body: { code: 'GOAL_TERMINAL' },
    });
    const attemptId = await anEndedAttempt('attempt_afterend0001');
    expect(await post(goal, 'runs', { expectedRevision, taskId, attemptId })).toMatchObject({
      status: 409,
      body: { code: 'GOAL_TERMINAL' },
    });
  });

  it('link a run of a task, whose facts are those of the stores', async () => {
    const goal = await created();
    const attemptId = await anEndedAttempt('attempt_linked000001', { parentAttemptId: 'attempt_before000001' });
    const wrong = { workflowRunId: 'w', conversationId: 'c', parentAttemptId: 'attempt_another00001' };
    const refused = await post(goal, 'runs', { expectedRevision: 1, taskId, attemptId, ...wrong });
    expect([refused.status, issuePaths(refused).sort()]).toEqual([400, Object.keys(wrong).sort()]);
    expect(await post(goal, 'runs', { expectedRevision: 2, taskId, attemptId })).toMatchObject({ status: 409 });
    const parentAttemptId = 'attempt_before000001';
    const linked = await post(goal, 'runs', { expectedRevision: 1, taskId, attemptId, parentAttemptId });
    expect(linked.body).toMatchObject({
      revision: 2,
      currentRun: { taskId, attemptId, kind: 'linked', parentAttemptId },
    });
    expect(linked.body.continuationChain).toEqual([linked.body.currentRun]);
    const again = await post(goal, 'runs', { expectedRevision: 1, taskId, attemptId });
    expect(again).toMatchObject({ status: 200, body: { revision: 2 } });
    const other = await created();
    expect(await post(other, 'runs', { expectedRevision: 1, taskId, attemptId })).toMatchObject({
      status: 409,
      body: { code: 'GOAL_RUN_LINKED', details: { goalId: goal.id } },
    });
  });

  it('link no run that is not there, of another task, or refused', async () => {
    const goal = await created();
    const other = (await board.createTask()).id;
    const attemptId = await anEndedAttempt('attempt_elsewhere001');
    const refused = await anEndedAttempt('attempt_refused00001', { state: 'refused', completion: undefined });
    for (const [body, status] of [
      [{ taskId: 'task_20260101_nobody' }, 404],
      [{ taskId: other }, 404],
      [{ taskId: other, attemptId }, 404],
      [{ taskId, attemptId: 'attempt_nobody000001' }, 404],
      [{ taskId, attemptId: refused }, 400],
    ] as const) {
      expect([body, (await post(goal, 'runs', { expectedRevision: 1, ...body })).status]).toEqual([body, status]);
    }
    expect((await post({ id: 'goal_0123456789ab' }, 'runs', { expectedRevision: 1, taskId })).status).toBe(404);
  });

  it('are rolled over once, from a run that has ended', async () => {
    const goal = await created();
    const without = await post(goal, 'rollover', { expectedRevision: 1 });
    expect(without).toMatchObject({ status: 409, body: { code: 'GOAL_NOT_CONTINUABLE' } });
    const attemptId = await anEndedAttempt('attempt_rollover0001');
    await post(goal, 'runs', { expectedRevision: 1, taskId, attemptId });
    // What counts the end of a run needs a worker.
    const running = await post(goal, 'rollover', { expectedRevision: 2 });
    expect(running).toMatchObject({ status: 409, body: { code: 'GOAL_NOT_CONTINUABLE' } });
    const { goals } = board.api.context;
    const endedAt = '2026-01-01T00:00:00.000Z';
    await goals.change(
      goal.id,
      (current) => ({ ...current, continuationChain: current.continuationChain.map((run) => ({ ...run, endedAt })) }),
      { at: endedAt },
    );
    const replies = await Promise.all([1, 2, 3].map(() => post(goal, 'rollover', { expectedRevision: 3 })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const { continuationAttempts } = (await board.call('GET', `/api/goals/${goal.id}`)).body as Goal;
    expect(continuationAttempts).toMatchObject([{ kind: 'rollover', state: 'planned', sourceAttemptId: attemptId }]);
  });

  it('are not rolled over more often than they may, beyond a budget, or while they are paused', async () => {
    const refusedWith = async (fields: object, change: (goal: Goal) => Goal) => {
      const goal = await created(fields);
      await board.api.context.goals.change(goal.id, change, { at: goal.createdAt });
      return (await post(goal, 'rollover', { expectedRevision: 2 })).body.code as string;
    };
    const spent = (goal: Goal): Goal => ({ ...goal, usage: { ...goal.usage, totalTokens: 100 } });
    expect(await refusedWith({ budgets: { totalTokens: 100 } }, spent)).toBe('GOAL_BUDGET_REACHED');
    expect(await refusedWith({ continuation: { maxRollovers: 0 } }, spent)).toBe('GOAL_NOT_CONTINUABLE');
    expect(await refusedWith({}, (goal) => ({ ...goal, state: 'paused' }))).toBe('GOAL_NOT_CONTINUABLE');
  });

  it('become active again only within their budgets', async () => {
    const goal = await created({ budgets: { costUsd: 0.5 } });
    const limited = await transition(goal, 'budget-limited');
    await board.api.context.goals.change(goal.id, (now) => ({ ...now, usage: { ...now.usage, costUsd: 0.5 } }), {
      at: goal.createdAt,
    });
    expect(await transition({ ...(limited.body as Goal), revision: 3 }, 'active')).toMatchObject({
      status: 409,
      body: { code: 'GOAL_BUDGET_REACHED', details: { budgets: ['costUsd 0.5 of 0.5'] } },
    });
  });

  it('end their list of changes, but can always be ended', async () => {
    const goal = await created();
    const step = {
      from: 'active',
      to: 'paused',
      reason: 'Because of the test',
      actor: 'user:ada',
      at: goal.createdAt,
    } as const;
    const transitions = Array.from({ length: 500 }, () => step);
    await board.api.context.goals.change(goal.id, (now) => ({ ...now, transitions }), { at: goal.createdAt });
    const full = { ...goal, revision: 2 };
    expect(await transition(full, 'paused')).toMatchObject({ status: 409, body: { code: 'GOAL_FULL' } });
    expect((await transition(full, 'cancelled')).body.state).toBe('cancelled');
  });

  it('are in the audit log with every change', async () => {
    const goal = await created();
    await transition(goal, 'cancelled');
    const { body } = await board.call('GET', '/api/audit?limit=50');
    const actions = JSON.stringify(body);
    expect(actions).toContain('goal.create');
    expect(actions).toContain('goal.transition');
  });
});
