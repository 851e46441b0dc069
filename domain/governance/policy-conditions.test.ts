import { type PolicyOf, policyQuestion } from '../../contracts/governance/policy';
import { findingsOf, type PureType } from './policy-conditions';

const common = { name: 'P', description: '', enabled: true, scope: {}, precedence: 0 };
const ask = (policy: object, question: object) =>
  findingsOf(
    { ...common, ...policy } as PolicyOf<PureType>,
    policyQuestion.parse({ actionType: 'write', ...question }),
  );
const decisions = (policy: object, question: object) => ask(policy, question).map(({ decision }) => decision);

describe('policy conditions', () => {
  it('finds every rule about the tool and the action', () => {
    const policy = {
      type: 'rules',
      rules: [
        { tool: 'bash', action: '*', effect: 'deny' },
        { tool: '*', action: 'write', effect: 'warn' },
        { tool: 'git.*', action: 'push', effect: 'require-approval' },
        { tool: '*', action: '*', effect: 'allow' },
      ],
    };
    expect(decisions(policy, { metadata: { tool: 'bash' } })).toEqual(['block', 'warn', 'allow']);
    expect(decisions(policy, { metadata: { tool: 'git.remote' }, actionType: 'push' })).toEqual([
      'require-approval',
      'allow',
    ]);
    expect(ask(policy, {}).map(({ rule }) => rule)).toEqual([1, 3]);
  });

  it('takes an action that states no tool for a tool', () => {
    const policy = { type: 'rules', rules: [{ tool: 'deploy', action: '*', effect: 'deny' }] };
    expect(decisions(policy, { actionType: 'deploy' })).toEqual(['block']);
    expect(decisions(policy, { actionType: 'deploy', metadata: { tool: 'other' } })).toEqual([]);
    expect(decisions(policy, { actionType: 'deploy', metadata: { tool: 7 } })).toEqual(['block']);
  });

  it.each([
    ['gte', 65, true],
    ['gt', 65, false],
    ['gt', 65.5, true],
    ['lte', 65, true],
    ['lt', 65, false],
    ['lt', 1, true],
    ['gte', undefined, false],
    ['lt', undefined, false],
  ])('compares the risk: %s, %p: %s', (comparator, riskScore, holds) => {
    const policy = { type: 'risk-threshold', responseAction: 'block', config: { threshold: 65, comparator } };
    expect(decisions(policy, { riskScore })).toEqual(holds ? ['block'] : []);
  });

  it('always asks for the approval that it requires', () => {
    const config = { reason: 'Money is spent.', approvers: ['ada'] };
    expect(ask({ type: 'require-approval', responseAction: 'require-approval', config }, {})).toEqual([
      { decision: 'require-approval', reason: 'Money is spent. (ada)' },
    ]);
  });

  it('blocks types of actions', () => {
    const policy = { type: 'block-action-type', responseAction: 'block', config: { actionTypes: ['delete*'] } };
    expect(decisions(policy, { actionType: 'delete-all' })).toEqual(['block']);
    expect(decisions(policy, {})).toEqual([]);
  });
});
