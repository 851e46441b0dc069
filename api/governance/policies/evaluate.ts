import { taskId } from '../../../contracts/common';
import type {
  Policy,
  PolicyDecision,
  PolicyFields,
  PolicyMatch,
  PolicyOf,
  PolicyQuestion,
} from '../../../contracts/governance/policy';
import type { EvaluatedRule, TraceInput } from '../../../contracts/governance/trace';
import type { Recorded } from '../../../stores/port/configured-records';
import type { RateCountStore } from '../../../stores/system/rate-count-store';
import type { ApiContext } from '../../context';
import { applies } from './applies';
import { type Finding, findingsOf } from './conditions';
import { verdictOf } from './verdict';

const outcomes: Record<PolicyDecision, TraceInput['outcome']> = {
  allow: 'allowed',
  warn: 'warned',
  'require-approval': 'approval-required',
  block: 'blocked',
};

/** The order in which policies are evaluated and reported. */
const byPrecedence = (a: Policy, b: Policy): number => b.precedence - a.precedence || a.id.localeCompare(b.id);

/** What an action counts under: actions without an agent, say, are counted together. */
function countedUnder({ config, id }: PolicyOf<'rate-limit'> & Recorded, question: PolicyQuestion): string[] {
  const { agent = '', project = '', actionType } = question;
  return [id, config.scopeKey, { agent, project, 'action-type': actionType, global: '' }[config.scopeKey]];
}

/** Counts the action, unless this is a preview, and finds whether it is one too many. */
async function overRate(
  rates: RateCountStore,
  policy: PolicyOf<'rate-limit'> & Recorded,
  question: PolicyQuestion,
): Promise<Finding[]> {
  const { maxAttempts, windowMs } = policy.config;
  const window = { key: countedUnder(policy, question), windowMs };
  const count = await (question.preview ? rates.preview(window) : rates.count(window));
  const reason = `It is number ${count} within ${windowMs} ms; ${maxAttempts} are allowed.`;
  return count > maxAttempts ? [{ decision: policy.responseAction, reason }] : [];
}

/** Evaluates every policy that is turned on, and lets the strictest decide (specification 2, Policies and governance). */
export function createPolicyEvaluator({
  policies,
  rates,
  agentPermissions,
  traces,
}: Pick<ApiContext, 'policies' | 'rates' | 'agentPermissions' | 'traces'>) {
  const findings = (policy: PolicyFields & Recorded, question: PolicyQuestion): Finding[] | Promise<Finding[]> =>
    policy.type === 'rate-limit' ? overRate(rates, policy, question) : findingsOf(policy, question);

  return async (question: PolicyQuestion) => {
    const { agent, project, actionType, metadata } = question;
    const level = agent === undefined ? undefined : (await agentPermissions.get(agent)).level;
    const subject = { agent, level, project, actionType };
    const matches: PolicyMatch[] = [];
    const evaluatedRules: EvaluatedRule[] = [];
    for (const policy of (await policies.list()).filter(({ enabled }) => enabled).sort(byPrecedence)) {
      const { id, name, type } = policy;
      const isAbout = applies(policy.scope, subject);
      const matched = isAbout ? await findings(policy, question) : [];
      matches.push(...matched.map((finding) => ({ policyId: id, name, type, ...finding })));
      evaluatedRules.push({
        id,
        label: name,
        type,
        status: isAbout ? (matched.length > 0 ? 'matched' : 'not-matched') : 'skipped',
        ...(matched.length > 0 ? { outcome: outcomes[verdictOf(matches.slice(-matched.length)).decision] } : {}),
        message: isAbout
          ? matched.map(({ reason }) => reason).join(' ') || 'The condition does not hold.'
          : 'The rule does not apply to this action.',
      });
    }
    const verdict = verdictOf(matches);
    const task = taskId.safeParse(metadata?.['taskId']);
    const traceId = await traces.record({
      kind: 'policy',
      outcome: outcomes[verdict.decision],
      title: `${actionType}: ${verdict.decision}`,
      summary: `${evaluatedRules.length} policies were evaluated; ${matches.length} of their rules hold.`,
      ...(verdict.decision === 'block' ? { remediation: `See the policies ${verdict.blockedBy.join(', ')}.` } : {}),
      subject: {
        ...(agent === undefined ? {} : { agentId: agent }),
        ...(task.success ? { taskId: task.data } : {}),
        actionType,
      },
      evaluatedRules,
      raw: { question },
    });
    return { ...verdict, matches, traceId };
  };
}
