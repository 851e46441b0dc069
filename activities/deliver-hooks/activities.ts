import { ApplicationFailure } from '@temporalio/common';
import type { Hook, HookContext } from '../../contracts/settings/hook';
import { hookFits } from '../../domain/hook-events';
import type { WebhookSender } from '../../platform/http/webhook';
import { compact } from '../../platform/json/compact';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import { type ActorAction, askRules } from '../../stores/governance/require-allowed';
import type { HookExecutionStore, HookStore } from '../../stores/settings/hook-store';
import type { DeliverHooksInput } from '../../workflows/deliver-hooks/messages';
import { transitionMessage } from '../../workflows/message-proofs';

export interface HookActivityDependencies {
  hooks: HookStore;
  executions: HookExecutionStore;
  webhooks: WebhookSender;
  rules: DecisionPoint;
  proofs: ProofVerifier;
  now: () => Date;
}

/** Something that happened to a task, as the API has signed it. */
export type Transition = Pick<DeliverHooksInput, 'id' | 'context' | 'proof'>;

export interface HookRun extends Transition {
  /** One for each hook and change; receivers know repetitions by it. */
  executionId: string;
  hookId: string;
}

export function createHookActivities({ hooks, executions, webhooks, rules, proofs, now }: HookActivityDependencies) {
  return {
    /** The hooks that are to be run for something that happened, in their order. */
    async hooksFor({ id: transitionId, context, proof }: Transition): Promise<Pick<Hook, 'id' | 'name'>[]> {
      await proofs.require(transitionMessage({ id: transitionId, context }), proof);
      const fitting = (await hooks.list()).filter((hook) => hookFits(hook, context));
      return fitting.sort((a, b) => a.order - b.order).map(({ id, name }) => ({ id, name }));
    },

    /**
     * Runs one hook once, if the rules allow its message, and notes what came of it. A hook that was deleted or turned off
     * meanwhile is not run.
     *
     * @throws ApplicationFailure to be tried again, or not when it would be of no use
     */
    async runHook({ id, hookId, context, proof }: HookRun): Promise<void> {
      await proofs.require(transitionMessage({ id, context }), proof);
      const executionId = `${id}/${hookId}`;
      // By a try whose response was lost, or by the same event that was sent again.
      if (await executions.isOver(executionId)) {
        return;
      }
      const hook = await hooks.get(hookId);
      if (!hook?.enabled) {
        return;
      }
      const at = now();
      const execution = {
        id: executionId,
        hookId,
        hookName: hook.name,
        event: context.event,
        taskId: context.taskId,
        action: hook.action.type,
        executedAt: at.toISOString(),
      };
      const { refused, traceId } = await askRules(rules, messageOf({ ...hook, id: hookId }, context, executionId));
      if (refused) {
        const state = refused.code === 'POLICY_BLOCKED' ? ('blocked' as const) : ('pending' as const);
        const unsent = { state, success: false, attempts: 0, error: refused.message, durationMs: 0 };
        await executions.note({ ...execution, ...unsent, ...compact({ traceId }) });
        if (state === 'blocked') {
          return;
        }
        throw ApplicationFailure.create({ type: refused.code, message: refused.message });
      }
      const body = JSON.stringify({ hookId, hookName: hook.name, event: context.event, context });
      const outcome = await webhooks.send(new URL(hook.action.url), { id: executionId, at, body });
      const success = outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300;
      const error =
        outcome.error ?? (success ? undefined : `The receiver responded with ${outcome.status ?? 'nothing'}.`);
      await executions.note({
        ...execution,
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
    },

    giveUpHook: (executionId: string): Promise<void> => executions.giveUp(executionId),
  };
}

/** The message of a hook as rules see it: an approval is of this hook as it is, and of this event. */
const messageOf = (
  { id: hookId, revision, action: { url } }: Pick<Hook, 'id' | 'revision' | 'action'>,
  { event, taskId, project }: HookContext,
  change: string,
): ActorAction => ({
  action: 'external-message',
  also: ['hook'],
  actor: 'system:hooks',
  taskId,
  project,
  subject: { hookId, revision, event, host: new URL(url).host },
  change,
});

export type HookActivities = ReturnType<typeof createHookActivities>;
