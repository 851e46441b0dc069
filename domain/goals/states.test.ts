import { type GoalState, goalState } from '../../contracts/governance/goals/goal';
import { aStoredGoal } from '../../test/support/factories/goal';
import { changedState, isTerminal, mayChange, missingRequirements } from './states';

const open: readonly GoalState[] = [
  'active',
  'paused',
  'blocked',
  'awaiting-approval',
  'usage-limited',
  'budget-limited',
];
const final: readonly GoalState[] = ['complete', 'cancelled', 'failed'];

describe('states of goals', () => {
  it.each(goalState.options.flatMap((from) => goalState.options.map((to) => [from, to] as const)))(
    '%s to %s is allowed where the first is not final and the second another one',
    (from, to) => {
      expect(mayChange(from, to)).toBe(open.includes(from) && from !== to);
    },
  );

  it('are nine, of which three are final', () => {
    expect(goalState.options.filter(isTerminal)).toEqual(final);
    expect(goalState.options.filter((state) => !isTerminal(state))).toEqual(open);
  });

  it('records a change with its author, its blocker and, for a final one, its reason', () => {
    const by = { actor: 'user:ada', at: '2026-01-01T00:00:01.000Z' };
    const blocker = { code: 'NO_DISK', summary: 'The disk is full', attempts: 2, nextSafeAction: 'Free some space' };
    const blocked = changedState(aStoredGoal(), { state: 'blocked', reason: 'The disk is full', blocker }, by);
    expect(blocked).toMatchObject({
      state: 'blocked',
      blockers: [{ id: 'blocker_1', ...blocker, recordedAt: by.at }],
      transitions: [{ from: 'active', to: 'blocked', ...by, blockerId: 'blocker_1' }],
      terminalReason: null,
    });
    expect(changedState(blocked, { state: 'failed', reason: 'It cannot be done' }, by)).toMatchObject({
      transitions: [{}, { from: 'blocked', to: 'failed' }],
      terminalReason: 'It cannot be done',
    });
  });

  it('lists the required requirements without evidence', () => {
    const requirement = (id: string, required: boolean) => ({
      ...{ id, required, description: id, verificationKind: 'test' as const },
    });
    const completionRequirements = [requirement('a', true), requirement('b', false), requirement('c', true)];
    const evidence = { requirementId: 'a', evidenceId: 'x', summary: 'ok', verifier: 'user:ada', verifiedAt: '' };
    expect(missingRequirements({ completionRequirements, completionEvidence: [evidence] })).toEqual(['c']);
  });
});
