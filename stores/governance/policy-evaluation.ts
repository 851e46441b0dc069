import type { AgentLevel } from '../../contracts/governance/agent-permission';
import type { PolicyDecision, PolicyMatch, PolicyOf } from '../../contracts/governance/policy';
import type { EvaluatedRule, TraceInput } from '../../contracts/governance/trace';
import type { ActionQuestion, Finding } from '../../domain/governance/policy-conditions';
import { findingsOf, namesOf } from '../../domain/governance/policy-conditions';
import { applies } from '../../domain/governance/policy-scope';
import { verdictOf } from '../../domain/governance/policy-verdict';
import type { Recorded } from '../port/configured-records';
import type { RateCountStore } from '../system/rate-count-store';
import type { PolicyStore } from './policy-store';

export interface EvaluationSources {
  policies: Pick<PolicyStore, 'enabled'>;
  rates: RateCountStore;
}

/** How an action is counted: as one more, as a preview, under a name only once, or not at all since it was before. */
export type Counting = 'each' | 'preview' | 'counted' | { once: string };

/** What every policy that is turned on makes of an action. */
export interface Evaluation extends ReturnType<typeof verdictOf> {
  matches: PolicyMatch[];
  /** Of the policies that are about the action, and with `all` of the others too. */
  evaluatedRules: EvaluatedRule[];
}

export const outcomes: Record<PolicyDecision, TraceInput['outcome']> = {
  allow: 'allowed',
  warn: 'warned',
  'require-approval': 'approval-required',
  block: 'blocked',
};

type RateLimit = PolicyOf<'rate-limit'> & Recorded;

/** What an action counts under: actions without an agent, say, are counted together. */
function countedUnder({ config, id }: RateLimit, question: ActionQuestion): string[] {
  const { agent = '', project = '', actionType } = question;
  return [id, config.scopeKey, { agent, project, 'action-type': actionType, global: '' }[config.scopeKey]];
}

/** Counts the action, unless it is not to be counted, and finds whether it is one too many. */
async function overRate(
  rates: RateCountStore,
  policy: RateLimit,
  { question, counting }: { question: ActionQuestion; counting: Counting },
): Promise<Finding[]> {
  if (counting === 'counted') {
    return [];
  }
  const { maxAttempts, windowMs } = policy.config;
  const window = { key: countedUnder(policy, question), windowMs };
  const count = await (counting === 'each'
    ? rates.count(window)
    : counting === 'preview'
      ? rates.preview(window)
      : rates.countOnce(window, counting.once));
  const reason = `It is number ${count} within ${windowMs} ms; ${maxAttempts} are allowed.`;
  return count > maxAttempts ? [{ decision: policy.responseAction, reason }] : [];
}

/** Evaluates every policy that is turned on, and lets the strictest decide (specification 2, Policies and governance). */
export async function evaluatePolicies(
  { policies, rates }: EvaluationSources,
  { level, ...question }: ActionQuestion & { level?: AgentLevel },
  { counting, all = false }: { counting: Counting; all?: boolean },
): Promise<Evaluation> {
  const { agent, project } = question;
  const subject = { agent, level, project, actions: namesOf(question) };
  const matches: PolicyMatch[] = [];
  const evaluatedRules: EvaluatedRule[] = [];
  for (const policy of await policies.enabled(all ? undefined : { project })) {
    const { id, name, type } = policy;
    const isAbout = applies(policy.scope, subject);
    if (!isAbout && !all) {
      continue;
    }
    const findings = !isAbout
      ? []
      : policy.type === 'rate-limit'
        ? await overRate(rates, policy, { question, counting })
        : findingsOf(policy, question);
    const matched = findings.map((finding) => ({ policyId: id, name, type, ...finding }));
    matches.push(...matched);
    evaluatedRules.push({
      id,
      label: name,
      type,
      status: isAbout ? (matched.length > 0 ? 'matched' : 'not-matched') : 'skipped',
      ...(matched.length > 0 ? { outcome: outcomes[verdictOf(matched).decision] } : {}),
      message: isAbout
        ? matched.map(({ reason }) => reason).join(' ') || 'The condition does not hold.'
        : 'The rule does not apply to this action.',
    });
  }
  return { ...verdictOf(matches), matches, evaluatedRules };
}
