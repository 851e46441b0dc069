import type { Refusal } from '../../contracts/refusal';
import type { BudgetUse } from '../budgets/budget-use';
import { refusal } from '../refusal';
import type { RuleReason } from './action';

interface Refused {
  decision: string;
  reasons: readonly RuleReason[];
  traceId?: string;
  approval?: { id: string; status: string };
}

/** What the id of a rule is called, by its source. */
const ruleNames: Partial<Record<RuleReason['source'], string>> = {
  policy: 'policy',
  'tool-policy': 'role',
  'tool-server': 'serverId',
};

/** Why an action that the rules block, or that waits for an approval, is not done; nothing for one that may be. */
export function ruleRefusal({ decision, reasons, traceId, approval }: Refused): Refusal | undefined {
  const [first] = reasons;
  if (!first || (decision !== 'block' && decision !== 'require-approval')) {
    return undefined;
  }
  if (first.source === 'watcher-policy') {
    return watcherRefusal(first, decision, traceId);
  }
  if (first.use) {
    return budgetRefusal(first, first.use, { reasons, traceId });
  }
  const { source, id, rule, reason, remedy } = first;
  const code = decision === 'block' ? 'POLICY_BLOCKED' : 'APPROVAL_REQUIRED';
  return refusal(code, `${reason} ${remedy}`, {
    code,
    source,
    ...{ [ruleNames[source] ?? 'agent']: id },
    ...(rule === undefined ? {} : { rule }),
    reason,
    remedy,
    reasons,
    ...(traceId === undefined ? {} : { traceId }),
    ...(approval
      ? { approval: { ...pick(approval), review: `POST /api/agents/permissions/approvals/${approval.id}` } }
      : {}),
    retryable: decision === 'require-approval',
  });
}

/** The watcher policy has codes of its own: what it leaves to a person is no approval but a follow-up of theirs. */
function watcherRefusal({ reason, remedy, watcher }: RuleReason, decision: string, traceId?: string): Refusal {
  const code = decision === 'block' ? 'CONTINUATION_BLOCKED' : 'CONTINUATION_NEEDS_APPROVAL';
  const trace = traceId === undefined ? {} : { traceId };
  return refusal(code, `${reason} ${remedy}`, {
    code,
    source: 'watcher-policy',
    ...watcher,
    ...trace,
    retryable: false,
  });
}

/** A used budget is refused as admission refuses what lacks capacity; one that is only reserved is free again when runs end. */
function budgetRefusal(
  { reason, remedy }: RuleReason,
  { status: _status, ...use }: BudgetUse,
  { reasons, traceId }: Pick<Refused, 'reasons' | 'traceId'>,
): Refusal {
  const code = 'ADMISSION_BUDGET_EXHAUSTED';
  return refusal(code, `${reason} ${remedy}`, {
    code,
    source: 'budget',
    ...use,
    remedy,
    reasons: reasons.map(({ use: _use, ...each }) => each),
    ...(traceId === undefined ? {} : { traceId }),
    retryable: use.used < use.limit,
  });
}

const pick = ({ id, status }: { id: string; status: string }) => ({ id, status });
