import type { Hook, HookContext } from '../../contracts/settings/hook';
import { hookFits } from '../../domain/hook-events';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { ActorAction } from '../../stores/governance/require-allowed';
import type { HookStore } from '../../stores/settings/hook-store';
import { type DeliverHooksInput, firedPrefix } from '../../workflows/deliver-hooks/messages';
import { transitionMessage } from '../../workflows/message-proofs';
import { allowedByRules, deliverWebhook } from './outcome';
import { createTransitionActions, type TransitionActionDependencies } from './transition-actions';

export interface HookActivityDependencies extends TransitionActionDependencies {
  hooks: HookStore;
  proofs: ProofVerifier;
}

/** Something that happened to a task, as the API has signed it. */
export type Transition = Pick<DeliverHooksInput, 'id' | 'context' | 'proof'>;

export interface HookRun extends Transition {
  /** One for each hook and change; receivers know repetitions by it. */
  executionId: string;
  hookId: string;
}

export function createHookActivities(deps: HookActivityDependencies) {
  const { hooks, executions, proofs, now } = deps;
  const transitions = createTransitionActions(deps);
  return {
    /** The hooks that are to be run for something that happened, in their order, and the actions of transition rules. */
    async hooksFor({ id: transitionId, context, proof }: Transition): Promise<Pick<Hook, 'id' | 'name'>[]> {
      await proofs.require(transitionMessage({ id: transitionId, context }), proof);
      const fitting = (await hooks.list()).filter((hook) => hookFits(hook, context));
      const sorted = fitting.sort((a, b) => a.order - b.order);
      const due = isObserved(transitionId) ? await transitions.due(context) : [];
      return [...sorted, ...due].map(({ id, name }) => ({ id, name }));
    },

    /**
     * Runs one hook or action of a transition rule once, if the rules allow its message, and notes what came of it. One that was
     * deleted or turned off meanwhile is not run.
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
      if (!hook && isObserved(id)) {
        await transitions.run(hookId, { executionId, context });
        return;
      }
      if (!hook?.enabled) {
        return;
      }
      const facts = {
        id: executionId,
        hookId,
        hookName: hook.name,
        event: context.event,
        taskId: context.taskId,
        action: hook.action.type,
        executedAt: now().toISOString(),
      };
      const allowed = await allowedByRules(deps, facts, messageOf({ ...hook, id: hookId }, context, executionId));
      if (allowed === 'blocked') {
        return;
      }
      const body = { hookId, hookName: hook.name, event: context.event, context };
      await deliverWebhook(deps, facts, { url: hook.action.url, body, ...allowed });
    },

    giveUpHook: (executionId: string): Promise<void> => executions.giveUp(executionId),
  };
}

/** Whether it was observed; what is fired by hand runs hooks only. */
const isObserved = (transitionId: string): boolean => !transitionId.startsWith(firedPrefix);

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
