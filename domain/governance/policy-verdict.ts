import { type PolicyDecision, policyDecision, type PolicyMatch } from '../../contracts/governance/policy';

/** Where a decision stands among the others: the larger, the stricter. */
export const strictness = (decision: PolicyDecision): number => policyDecision.options.indexOf(decision);

const idsOf = (matches: readonly PolicyMatch[], decision: PolicyDecision): string[] => [
  ...new Set(matches.filter((match) => match.decision === decision).map(({ policyId }) => policyId)),
];

/** What several matches come to: the strictest decides, whatever allows the same. */
export function verdictOf(matches: readonly PolicyMatch[]) {
  const decisions = matches.map(({ decision }) => decision);
  return {
    decision: decisions.reduce<PolicyDecision>((a, b) => (strictness(b) > strictness(a) ? b : a), 'allow'),
    warnings: matches.filter(({ decision }) => decision === 'warn').map(({ name, reason }) => `${name}: ${reason}`),
    blockedBy: idsOf(matches, 'block'),
    approvalRequiredBy: idsOf(matches, 'require-approval'),
  };
}
