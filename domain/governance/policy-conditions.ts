import type { PolicyDecision, PolicyFields, PolicyOf, PolicyQuestion } from '../../contracts/governance/policy';
import { matchesName } from './matches-name';

/** A condition that applies, and its verdict on the action. */
export interface Finding {
  decision: PolicyDecision;
  reason: string;
  /** Which of the policy's rules, from 0. */
  rule?: number;
}

/** A question, and the other names of the same action and of its tool: what is stated about any of them is about it. */
export type ActionQuestion = PolicyQuestion & { also?: readonly string[]; tools?: readonly string[] };

/** Every name of an action, the one that it is reported and counted under first. */
export const namesOf = ({ actionType, also = [] }: Pick<ActionQuestion, 'actionType' | 'also'>): string[] => [
  actionType,
  ...also,
];

/** The types whose condition follows from the question alone. */
export type PureType = Exclude<PolicyFields['type'], 'rate-limit'>;

const compare = {
  gte: (score: number, threshold: number) => score >= threshold,
  gt: (score: number, threshold: number) => score > threshold,
  lte: (score: number, threshold: number) => score <= threshold,
  lt: (score: number, threshold: number) => score < threshold,
};

const inWords = { gte: 'at least', gt: 'above', lte: 'at most', lt: 'below' };

const effects = { deny: 'block', 'require-approval': 'require-approval', warn: 'warn', allow: 'allow' } as const;

/** The tool of an action: an action that states none is taken for one. */
const toolsOf = (question: ActionQuestion): string[] =>
  question.tools
    ? [...question.tools]
    : typeof question.metadata?.['tool'] === 'string'
      ? [question.metadata['tool']]
      : namesOf(question);

type Condition<T extends PureType> = (policy: PolicyOf<T>, question: ActionQuestion) => Finding[];

const rules: Condition<'rules'> = (policy, question) =>
  policy.rules.flatMap(({ tool, action, effect }, rule) =>
    toolsOf(question).some((name) => matchesName(tool, name)) &&
    namesOf(question).some((name) => matchesName(action, name))
      ? [{ decision: effects[effect], rule, reason: `${effect}: tool ${tool}, action ${action}` }]
      : [],
  );

const riskThreshold: Condition<'risk-threshold'> = ({ responseAction, config }, { riskScore }) => {
  const { threshold, comparator } = config;
  return riskScore !== undefined && compare[comparator](riskScore, threshold)
    ? [{ decision: responseAction, reason: `The risk of ${riskScore} is ${inWords[comparator]} ${threshold}.` }]
    : [];
};

const requireApproval: Condition<'require-approval'> = ({ responseAction, config: { reason, approvers } }) => {
  const by = approvers.length > 0 ? ` (${approvers.join(', ')})` : '';
  return [{ decision: responseAction, reason: `${reason || 'An approval is required.'}${by}` }];
};

const blockActionType: Condition<'block-action-type'> = ({ responseAction, config }, question) => {
  const name = namesOf(question).find((each) => config.actionTypes.some((pattern) => matchesName(pattern, each)));
  const pattern = config.actionTypes.find((each) => name !== undefined && matchesName(each, name));
  return pattern === undefined ? [] : [{ decision: responseAction, reason: `${name} is among ${pattern}.` }];
};

/** What a policy finds in an action that it is about, from the question alone. */
export function findingsOf(policy: PolicyOf<PureType>, question: ActionQuestion): Finding[] {
  switch (policy.type) {
    case 'rules':
      return rules(policy, question);
    case 'risk-threshold':
      return riskThreshold(policy, question);
    case 'require-approval':
      return requireApproval(policy, question);
    case 'block-action-type':
      return blockActionType(policy, question);
  }
}
