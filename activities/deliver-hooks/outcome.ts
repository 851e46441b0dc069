import { ApplicationFailure } from '@temporalio/common';
import type { HookExecution } from '../../contracts/settings/hook';
import type { WebhookSender } from '../../platform/http/webhook';
import { compact } from '../../platform/json/compact';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import { type ActorAction, askRules } from '../../stores/governance/require-allowed';
import type { HookExecutionStore } from '../../stores/settings/hook-store';

/** What an execution records whatever comes of it. */
export type ExecutionFacts = Omit<
  HookExecution,
  'state' | 'success' | 'attempts' | 'durationMs' | 'status' | 'error' | 'traceId'
>;

export interface DeliveryDependencies {
  executions: HookExecutionStore;
  rules: DecisionPoint;
  now: () => Date;
}

/**
 * Asks the rules about a message, and notes on its execution when they refuse it.
 *
 * @returns the trace of the decision if there is one, or `blocked` when it is not to be sent
 * @throws ApplicationFailure to be tried again, when it needs an approval
 */
export async function allowedByRules(
  { executions, rules }: DeliveryDependencies,
  facts: ExecutionFacts,
  message: ActorAction,
): Promise<'blocked' | { traceId?: string }> {
  const { refused, traceId } = await askRules(rules, message);
  if (!refused) {
    return compact({ traceId });
  }
  const state = refused.code === 'POLICY_BLOCKED' ? ('blocked' as const) : ('pending' as const);
  const unsent = { state, success: false, attempts: 0, error: refused.message, durationMs: 0 };
  await executions.note({ ...facts, ...unsent, ...compact({ traceId }) });
  if (state === 'blocked') {
    return 'blocked';
  }
  throw ApplicationFailure.create({ type: refused.code, message: refused.message });
}

/**
 * Sends a webhook, and notes what came of it.
 *
 * @throws ApplicationFailure to be tried again, or not when it would be of no use
 */
export async function deliverWebhook(
  { executions, webhooks, now }: DeliveryDependencies & { webhooks: WebhookSender },
  facts: ExecutionFacts,
  { url, body, traceId }: { url: string; body: object; traceId?: string | undefined },
): Promise<void> {
  const at = now();
  const outcome = await webhooks.send(new URL(url), { id: facts.id, at, body: JSON.stringify(body) });
  const success = outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300;
  const error = outcome.error ?? (success ? undefined : `The receiver responded with ${outcome.status ?? 'nothing'}.`);
  await executions.note({
    ...facts,
    state: success ? 'delivered' : 'pending',
    success,
    attempts: 1,
    ...compact({ status: outcome.status, error, traceId }),
    durationMs: now().getTime() - at.getTime(),
  });
  if (success) {
    return;
  }
  throw ApplicationFailure.create({
    type: 'HOOK_FAILED',
    message: error ?? 'The receiver rejected the delivery.',
    nonRetryable: outcome.forbidden === true || outcome.status === 410,
  });
}
