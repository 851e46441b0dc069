import type { RunEventInput } from '../../../contracts/runs/event';
import type { BudgetUse } from '../../../domain/budgets/budget-use';
import { budgetEventKey } from '../../../domain/budgets/event-key';
import type { Spend, Spender } from '../../../domain/budgets/spend';
import { budgetReasons, budgetRule, sentenceOf } from '../../../domain/budgets/use';
import type { RunEventSource } from '../../../domain/events/seal';
import { compact } from '../../../platform/json/compact';
import type { Stores } from '../../open-stores';
import type { AdmissionRequestStore } from '../../runs/admission/admission-request-store';
import type { AttemptRecord } from '../../runs/attempt-store';
import type { Budgets } from './budgets';

/** The stores that counting what a run uses takes. */
export type SpendStores = Pick<Stores, 'budgets' | 'admissionRequests' | 'notifications' | 'traces'> & {
  attempts: Pick<Stores['attempts'], 'exhaust'>;
  events: Pick<Stores['events'], 'appendUnlessEnded'>;
};

/** What a run has used since its last report; the same key is the same report. */
export interface UseReport extends Spend {
  key: string;
  at: string;
}

/** Whose budgets a run uses. */
export async function spenderOf(
  requests: Pick<AdmissionRequestStore, 'get'>,
  { _id, taskId, agent, project }: AttemptRecord,
): Promise<Spender> {
  const tree = (await requests.get(_id))?.rootObjectiveId;
  return { taskId, agent, ...compact({ project, tree }) };
}

/** Records what a run has used, each report once. */
export async function recordSpend(
  stores: { budgets: Pick<Budgets, 'ledger'>; requests: Pick<AdmissionRequestStore, 'get'> },
  record: AttemptRecord,
  reports: readonly UseReport[],
): Promise<Spender> {
  const spender = await spenderOf(stores.requests, record);
  if (reports.length > 0) {
    await stores.budgets.ledger.record(reports.map((report) => ({ ...report, ...spender, attemptId: record._id })));
  }
  return spender;
}

/**
 * Counts what a run at work has used, and announces each budget that is nearly used up, or is, once. A run that has used one up
 * is marked before it is ended, so that its end has that cause whichever process dies in between.
 *
 * @returns the budget that the run has used up: its agent is to be ended
 */
export async function countSpend(
  stores: SpendStores,
  { record, source }: { record: AttemptRecord; source: RunEventSource },
  reports: readonly UseReport[],
): Promise<BudgetUse | undefined> {
  const spender = await recordSpend({ ...stores, requests: stores.admissionRequests }, record, reports);
  const uses = await stores.budgets.usesOfRun(spender);
  for (const use of uses.filter(({ status }) => status !== 'ok')) {
    await announce(stores, { record, source }, use);
  }
  const exhausted = uses.find(({ status }) => status === 'exhausted');
  if (exhausted) {
    await stores.attempts.exhaust(record._id, exhausted);
  }
  return exhausted;
}

/** An event of the run, a notification for the board's operator and a trace, each once for a budget, its month and its limit. */
async function announce(
  { events, notifications, traces }: SpendStores,
  { record, source }: { record: AttemptRecord; source: RunEventSource },
  use: BudgetUse,
): Promise<void> {
  const { _id: attemptId, taskId, agent, project } = record;
  const { scope, scopeId, budget, status, resetsAt = '', limit } = use;
  const key = `${budgetEventKey}${scope}/${scopeId}/${budget}/${status}/${resetsAt}/${limit}`;
  const message = sentenceOf(use);
  const event: RunEventInput = { kind: 'progress', payload: { message, budget: { ...use } }, dedupeKey: key };
  await events.appendUnlessEnded(source, [event]);
  const title = status === 'exhausted' ? 'A budget is used up' : 'A budget is nearly used up';
  const about = { taskId, ...compact({ project }) };
  await notifications.add({
    type: 'budget',
    fromAgent: 'system:budget',
    title,
    content: message,
    dedupeKey: key,
    ...about,
  });
  const [reason] = budgetReasons([use]);
  await traces.record({
    kind: 'budget-policy',
    outcome: status === 'exhausted' ? 'blocked' : 'warned',
    title: `spend: ${status === 'exhausted' ? 'block' : 'warn'}`,
    summary: message,
    ...compact({ remediation: reason?.remedy }),
    subject: { agentId: agent, taskId, actionType: 'spend' },
    evaluatedRules: [budgetRule(use)],
    raw: { attemptId, ...compact({ project }), use: { ...use } },
    dedupeKey: `${attemptId}\n${key}`,
  });
}
