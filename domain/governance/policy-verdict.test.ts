import type { PolicyDecision, PolicyMatch } from '../../contracts/governance/policy';
import { verdictOf } from './policy-verdict';

const match = (decision: PolicyDecision, policyId: string): PolicyMatch => ({
  policyId,
  name: policyId.toUpperCase(),
  type: 'rules',
  decision,
  reason: 'because',
});

describe('policy verdict', () => {
  it.each<[PolicyDecision[], PolicyDecision]>([
    [[], 'allow'],
    [['allow'], 'allow'],
    [['allow', 'warn'], 'warn'],
    [['require-approval', 'warn'], 'require-approval'],
    [['block', 'allow', 'require-approval'], 'block'],
  ])('of %p is %s', (decisions, expected) => {
    expect(verdictOf(decisions.map((decision) => match(decision, 'p'))).decision).toBe(expected);
  });

  it('names each policy once, under what it decides', () => {
    const matches = [match('block', 'a'), match('block', 'a'), match('require-approval', 'b'), match('warn', 'c')];
    expect(verdictOf(matches)).toEqual({
      decision: 'block',
      warnings: ['C: because'],
      blockedBy: ['a'],
      approvalRequiredBy: ['b'],
    });
  });
});
