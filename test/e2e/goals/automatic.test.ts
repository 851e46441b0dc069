import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { allowContinuations, aPursuedGoal, goalIn, pursuer, readGoal, turnsOf } from '../../support/runs/goals';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
const pursued = (agent: string, fields: object = {}) => aPursuedGoal(stack.call, agent, fields);
const reached = (goalId: string, state: Parameters<typeof goalIn>[2]) => goalIn(stack.call, goalId, state);
const transition = async (goalId: string, state: string, fields: object = {}) => {
  const { revision: expectedRevision } = await readGoal(stack.call, goalId);
  const reason = 'Because of the test';
  return stack.call.ok('POST', `/api/goals/${goalId}/transition`, { expectedRevision, state, reason, ...fields });
};

describe('goals that continue by themselves', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      pursuer(stack.dir, 'third', 3),
      pursuer(stack.dir, 'never', 1_000),
      { ...pursuer(stack.dir, 'slow', 1_000, 60_000) },
      scriptAgent('worker-bee'),
      { ...scriptAgent('misbehaving', 'exits-1'), type: 'failing' },
    ]);
  });
  afterAll(() => stack.close());
  beforeEach(() => allowContinuations(stack.call, { spendCapUsd: 1_000 }));

  test('are continued run by run until a run proves the last requirement', async () => {
    const { goalId, taskId, attemptId } = await pursued('third');
    const goal = await reached(goalId, 'complete');
    expect(goal.continuationAttempts).toMatchObject([
      { kind: 'resume', state: 'dispatched', sourceAttemptId: attemptId },
      { kind: 'resume', state: 'dispatched', sourceAttemptId: goal.continuationAttempts[0]?.attemptId },
    ]);
    expect(goal.continuationChain).toMatchObject([
      { kind: 'linked', attemptId, status: 'partial' },
      { kind: 'resume', status: 'partial' },
      { kind: 'resume', status: 'success' },
    ]);
    expect(goal.currentRun).toEqual(goal.continuationChain[2]);
    expect(goal.usage).toMatchObject({
      inputTokens: 180,
      outputTokens: 120,
      totalTokens: 300,
      costUsd: 0.75,
      toolCalls: 3,
    });
    expect(goal.usage.runtimeSeconds).toBeGreaterThan(0);
    expect(goal.completionEvidence).toMatchObject([
      { requirementId: 'tests', evidenceId: goal.currentRun?.attemptId, verifier: `run:${goal.currentRun?.attemptId}` },
    ]);
    const turns = turnsOf(stack.dir, taskId);
    expect(turns.map(({ attempt }) => attempt)).toEqual(goal.continuationChain.map((run) => run.attemptId));
    expect(turns.map(({ edge }) => edge)).toEqual([null, 'follow-up', 'follow-up']);
    expect(turns[1]?.message).toContain('tests (test): The tests pass');
    const admitted = await stack.call.ok('GET', `/api/admission/${goal.currentRun?.attemptId}`);
    expect(admitted).toMatchObject({ request: { source: 'watcher' }, tree: { rootObjectiveId: attemptId, depth: 2 } });
    const { entries } = await stack.call.ok('GET', `/api/audit?resource=${goalId}&limit=50`);
    const actions = entries.map(({ action }: { action: string }) => action);
    expect(actions.filter((action: string) => action === 'goal.continue')).toHaveLength(2);
    expect(actions.filter((action: string) => action === 'goal.transition')).toHaveLength(1);
    const decided = await stack.call.ok('GET', `/api/audit?action=watcher-policy.evaluate&resource=${attemptId}`);
    expect(decided.entries).toMatchObject([{ details: { decision: 'allow', mode: 'auto' } }]);
  });

  test('end at their budget, which no run passes by itself', async () => {
    const { goalId, taskId } = await pursued('never', { budgets: { totalTokens: 200 } });
    const goal = await reached(goalId, 'budget-limited');
    expect(goal.usage.totalTokens).toBe(200);
    expect(goal.transitions.at(-1)).toMatchObject({
      actor: 'system:goals',
      reason: expect.stringContaining('totalTokens 200 of 200'),
    });
    expect(turnsOf(stack.dir, taskId)).toHaveLength(2);
  });

  test('begin a fresh conversation where the present one is used up, as often as they may', async () => {
    const continuation = { mode: 'automatic', compactAfterTokens: 100, maxRollovers: 1 };
    const { goalId, taskId } = await pursued('never', { continuation });
    const goal = await reached(goalId, 'blocked');
    expect(goal.blockers).toMatchObject([{ code: 'GOAL_ROLLOVERS_USED' }]);
    expect(goal.continuationChain).toMatchObject([{ kind: 'linked' }, { kind: 'rollover' }]);
    const turns = turnsOf(stack.dir, taskId);
    expect(turns.map(({ edge }) => edge)).toEqual([null, null]);
    expect(turns[1]?.message).toContain('The importer reads every file of the archive');
  });

  test('are blocked by the kill switch with the reason, and go on once it is off and they are set to active', async () => {
    await allowContinuations(stack.call, { globalKillSwitch: true, spendCapUsd: 1_000 });
    const { goalId, taskId } = await pursued('third');
    const blocked = await reached(goalId, 'blocked');
    expect(blocked.blockers).toMatchObject([
      { code: 'CONTINUATION_BLOCKED', summary: expect.stringContaining('kill switch') },
    ]);
    expect(blocked.continuationAttempts).toMatchObject([{ state: 'failed', error: { code: 'CONTINUATION_BLOCKED' } }]);
    expect(turnsOf(stack.dir, taskId)).toHaveLength(1);
    await allowContinuations(stack.call, { spendCapUsd: 1_000 });
    await transition(goalId, 'active');
    expect((await reached(goalId, 'complete')).continuationChain).toHaveLength(3);
  });

  test('wait for a person where the policy asks, who continues them once by setting them to active', async () => {
    await allowContinuations(stack.call, { defaultMode: 'ask_always', spendCapUsd: 1_000 });
    const { goalId } = await pursued('never');
    const waiting = await reached(goalId, 'awaiting-approval');
    expect(waiting.awaiting).toEqual({ code: 'CONTINUATION_NEEDS_APPROVAL', kind: 'resume' });
    await transition(goalId, 'active');
    const again = await eventually(async () => {
      const goal = await readGoal(stack.call, goalId);
      expect(goal.continuationAttempts).toMatchObject([
        { state: 'failed' },
        { state: 'dispatched' },
        { state: 'failed' },
      ]);
      return goal;
    });
    expect(again.state).toBe('awaiting-approval');
    expect(again.continuationChain).toHaveLength(2);
    expect(again.continuationAttempts[1]?.requestedBy).toEqual(expect.any(String));
    const admitted = await stack.call.ok('GET', `/api/admission/${again.currentRun?.attemptId}`);
    expect(admitted).toMatchObject({ request: { source: 'conversation' } });
  });

  test('are blocked at the cap of the watcher policy, which counts the tree of the run', async () => {
    await allowContinuations(stack.call, { maxContinuationsPerRun: 1, spendCapUsd: 1_000 });
    const { goalId } = await pursued('never');
    const goal = await reached(goalId, 'blocked');
    expect(goal.blockers).toMatchObject([
      { code: 'CONTINUATION_BLOCKED', summary: expect.stringContaining('the cap is 1') },
    ]);
    expect(goal.continuationChain).toHaveLength(2);
  });

  test('stop at the number of their turns', async () => {
    const { goalId } = await pursued('never', { continuation: { mode: 'automatic', maxTurns: 1 } });
    const goal = await reached(goalId, 'blocked');
    expect(goal.blockers).toMatchObject([{ code: 'GOAL_TURNS_USED' }]);
    expect(goal.continuationChain).toHaveLength(2);
  });

  test('are blocked by a policy that denies continuations', async () => {
    const { id } = await stack.call.ok('POST', '/api/policies', {
      name: 'No continuations',
      rules: [{ action: 'continuation', effect: 'deny' }],
    });
    const { goalId } = await pursued('never');
    const goal = await reached(goalId, 'blocked');
    await stack.call.ok('DELETE', `/api/policies/${id}`);
    expect(goal.blockers).toMatchObject([{ code: 'POLICY_BLOCKED' }]);
  });

  test('are paused by a person who stops their run, and not continued behind that', async () => {
    const { goalId, taskId, attemptId } = await pursued('slow');
    await eventually(() => expect(turnsOf(stack.dir, taskId)).toHaveLength(1));
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    const goal = await reached(goalId, 'paused');
    expect(goal.continuationAttempts).toEqual([]);
    expect(goal.continuationChain).toMatchObject([{ status: 'interrupted' }]);
  });

  test('wait for evidence that only people give, and are complete with it', async () => {
    const completionRequirements = [{ id: 'signed', description: 'Signed', verificationKind: 'operator' }];
    const { goalId } = await pursued('worker-bee', { completionRequirements });
    const goal = await reached(goalId, 'awaiting-approval');
    expect(goal.awaiting?.code).toBe('EVIDENCE_REQUIRED');
    const completionEvidence = [{ requirementId: 'signed', evidenceId: 'me', summary: 'I have seen it' }];
    expect((await transition(goalId, 'complete', { completionEvidence })).state).toBe('complete');
  });

  test('of mode manual count their runs, and begin none', async () => {
    const { goalId, taskId } = await pursued('never', { continuation: { mode: 'manual' } });
    await eventually(async () => expect((await readGoal(stack.call, goalId)).usage.totalTokens).toBe(100));
    expect((await readGoal(stack.call, goalId)).state).toBe('active');
    const { revision } = await readGoal(stack.call, goalId);
    const planned = await stack.call.ok('POST', `/api/goals/${goalId}/rollover`, { expectedRevision: revision });
    expect(planned.continuationAttempts).toMatchObject([{ kind: 'rollover', state: 'planned' }]);
    await eventually(async () => expect((await readGoal(stack.call, goalId)).usage.totalTokens).toBe(200));
    expect(turnsOf(stack.dir, taskId)).toMatchObject([{ edge: null }, { edge: null, message: expect.anything() }]);
  });

  test('count the runs that a person launches after theirs', async () => {
    const { goalId, taskId, attemptId } = await pursued('never', { continuation: { mode: 'manual' } });
    await stack.call.ended(taskId);
    const message = 'By a person';
    const followed = await stack.call.ok('POST', `/api/agents/${taskId}/conversation/follow-up`, {
      sourceAttemptId: attemptId,
      message,
    });
    const goal = await eventually(async () => {
      const now = await readGoal(stack.call, goalId);
      expect(now.usage.totalTokens).toBe(200);
      return now;
    });
    expect(goal.continuationChain).toMatchObject([
      { kind: 'linked' },
      { kind: 'follow-up', attemptId: followed.attemptId, status: 'partial' },
    ]);
  });
});
