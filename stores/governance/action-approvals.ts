import { slug } from '../../contracts/common';
import type { PermissionApproval } from '../../contracts/governance/agent-permission';
import type { AskedAction, RuleReason } from '../../domain/governance/action';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';
import { createRedactor } from '../../platform/log/redact';
import { redactJson } from '../../platform/log/redact-json';
import { cut } from '../../platform/text/cut';
import type { Asking, DecisionPointSources, RuleDecision } from './decision-point';

const redact = createRedactor();
const bounds = { bytes: 8_192, depth: 8, items: 100 };
const longestReason = 2_000;

type Combined = Pick<RuleDecision, 'decision' | 'reasons'>;

/** Finds or requests the approvals that rules require (specification 1, Other lifecycles: Agent permission approval). */
export function createActionApprovals(
  { policies, permissionApprovals }: Pick<DecisionPointSources, 'policies' | 'permissionApprovals'>,
  now: () => Date,
) {
  return {
    /** What an action that needs an approval comes to: allowed by one, blocked by a rejection, or waiting for a review. */
    async settle(
      asked: AskedAction,
      combined: Combined,
      { use, preview = false }: Asking,
    ): Promise<Combined & { approval?: PermissionApproval }> {
      const required = combined.reasons.filter(({ decision }) => decision === 'require-approval');
      const subject = subjectOf(asked, required);
      const at = now();
      const known = await permissionApprovals.decisive({ subject, at, ...compact({ use }) });
      if (known?.status === 'approved') {
        const reasons = combined.reasons.filter(({ decision }) => decision !== 'require-approval');
        return { decision: reasons[0]?.decision ?? 'allow', reasons, approval: known };
      }
      if (known?.status === 'rejected') {
        const reason = `${known.reviewedBy ?? 'An administrator'} rejected it: ${known.id}.`;
        const remedy = 'It can be requested again a day after the rejection.';
        const rejection = required.map((one) => ({ ...one, decision: 'block' as const, reason, remedy }));
        return { decision: 'block', reasons: [...rejection, ...combined.reasons], approval: known };
      }
      const approval = known ?? (preview ? undefined : await request(asked, required, subject));
      const remedy = approval
        ? `An administrator approves it with POST /api/agents/permissions/approvals/${approval.id}; then repeat the request.`
        : 'An administrator approves it once it is requested.';
      const waiting = combined.reasons.map((one) => (one.decision === 'require-approval' ? { ...one, remedy } : one));
      return { decision: 'require-approval', reasons: waiting, ...compact({ approval }) };
    },
  };

  async function request(asked: AskedAction, required: RuleReason[], subject: string): Promise<PermissionApproval> {
    const ids = required.filter(({ source }) => source === 'policy').map(({ id }) => id);
    const approvers = await approversOf(ids);
    return permissionApprovals.requestOnce(subject, {
      agentId: requesterOf(asked),
      action: asked.action,
      ...compact({ taskId: asked.taskId, approvers }),
      reason: cut(redact(required.map(({ reason }) => reason).join(' ')), longestReason),
      details: redactJson({ ...asked.subject }, redact, bounds).value,
      policies: ids,
      status: 'pending',
      requestedBy: asked.actor,
      createdAt: now().toISOString(),
    });
  }

  /** Those whom every policy that names approvers names. */
  async function approversOf(ids: readonly string[]): Promise<string[] | undefined> {
    const lists = (await policies.enabled()).flatMap((policy) =>
      ids.includes(policy.id) && policy.type === 'require-approval' && policy.config.approvers.length > 0
        ? [policy.config.approvers]
        : [],
    );
    const [first, ...others] = lists;
    return first?.filter((name) => others.every((list) => list.includes(name)));
  }
}

/** SHA-256 of who does exactly what, and of the rules that require its approval. */
const subjectOf = (asked: AskedAction, required: readonly RuleReason[]): string =>
  digestOf({
    action: asked.action,
    also: asked.also ?? [],
    by: asked.agent ?? asked.actor,
    project: asked.project ?? null,
    taskId: asked.taskId ?? null,
    tools: asked.tools ?? [],
    subject: asked.subject ?? {},
    rules: [...new Set(required.map(({ source, id }) => `${source}/${id}`))].sort(),
  });

/** The agent that acts; a person by the name of their key. */
function requesterOf({ agent, actor }: AskedAction): string {
  const name = slug.safeParse(agent ?? actor.slice(actor.indexOf(':') + 1));
  return name.success ? name.data : 'person';
}
