import { createHash } from 'node:crypto';
import type { HookContext } from '../../contracts/settings/hook';
import { type DueAction, dueActions } from '../../domain/transitions/due-actions';
import type { WebhookSender } from '../../platform/http/webhook';
import { compact } from '../../platform/json/compact';
import type { Board } from '../../stores/board-files/types';
import type { Stores } from '../../stores/open-stores';
import { allowedByRules, deliverWebhook, type DeliveryDependencies, type ExecutionFacts } from './outcome';

/** Who acts: the rules of the board, and no agent. */
const actor = 'system:transition-hooks';

export interface TransitionActionDependencies
  extends DeliveryDependencies, Pick<Stores, 'activity' | 'notifications' | 'transitionHooks'> {
  board: Pick<Board, 'get'>;
  webhooks: WebhookSender;
}

/** What happened, and the execution of an action for it. */
export interface ActionRun {
  executionId: string;
  context: HookContext;
}

/** What transition rules do after a change of a status, besides its timer. Each action may be run again and is done once. */
export function createTransitionActions(deps: TransitionActionDependencies) {
  async function perform(due: DueAction, run: ActionRun): Promise<void> {
    const { action, name } = due;
    const { taskId, taskTitle, agent, previousStatus, newStatus } = run.context;
    switch (action.type) {
      case 'send-webhook':
        return sendWebhook(due, run, action.url);
      case 'send-notification': {
        const content = action.message ?? `${taskTitle}: ${previousStatus} to ${newStatus}.`;
        return notify(due, run, { content, title: name, ...compact({ targetAgent: action.targetAgent }) });
      }
      case 'prompt-lessons-learned': {
        const { lessonsLearned = '' } = (await deps.board.get(taskId))?.task ?? {};
        if (lessonsLearned.trim() !== '') {
          return noteDone(due, run);
        }
        const content = `What was learnt from ${taskTitle}? Write it down with PATCH /api/tasks/${taskId} {lessonsLearned, lessonTags}.`;
        return notify(due, run, { content, title: 'Lessons learned', ...compact({ targetAgent: agent }) });
      }
      case 'log-activity':
        return logActivity(due, run);
    }
  }

  async function sendWebhook(due: DueAction, run: ActionRun, url: string): Promise<void> {
    const facts = factsOf(due, run);
    const allowed = await allowedByRules(deps, facts, messageOf(run, { hookId: due.id, host: new URL(url).host }));
    if (allowed === 'blocked') {
      return;
    }
    const body = { hookId: due.id, hookName: due.name, event: run.context.event, context: run.context };
    await deliverWebhook(deps, facts, { url, body, ...allowed });
  }

  async function logActivity(due: DueAction, run: ActionRun): Promise<void> {
    const { taskId, taskTitle, previousStatus, newStatus } = run.context;
    const details = { rule: due.name, from: previousStatus, to: newStatus };
    const prepared = deps.activity.prepare([{ type: 'status_changed', taskId, taskTitle, actor, details }]);
    await deps.activity.write(prepared.map((entry) => ({ ...entry, _id: recordIdOf('activity', run) })));
    await noteDone(due, run);
  }

  /** Notifies an agent or the operator, if the rules allow it; once, whatever callers send under other keys. */
  async function notify(
    due: DueAction,
    run: ActionRun,
    { content, title, targetAgent }: { content: string; title: string; targetAgent?: string },
  ): Promise<void> {
    const subject = { hookId: due.id, ...compact({ targetAgent }) };
    const allowed = await allowedByRules(deps, factsOf(due, run), messageOf(run, subject));
    if (allowed === 'blocked') {
      return;
    }
    const { taskId, taskTitle, project } = run.context;
    await deps.notifications.add({
      fromAgent: actor,
      type: 'transition',
      content,
      title,
      ...compact({ targetAgent, project }),
      taskId,
      taskTitle,
      // No caller can send a control character: a notification that is sent first under the same key prevents none.
      dedupeKey: `\u0001transition/${run.executionId}`,
    });
    await noteDone(due, run, allowed.traceId);
  }

  const noteDone = (due: DueAction, run: ActionRun, traceId?: string): Promise<void> =>
    deps.executions.note({
      ...factsOf(due, run),
      ...{ state: 'delivered', success: true, attempts: 1, durationMs: 0 },
      ...compact({ traceId }),
    });

  const factsOf = ({ id, name, action }: DueAction, { executionId, context }: ActionRun): ExecutionFacts => ({
    id: executionId,
    hookId: id,
    hookName: name,
    event: context.event,
    taskId: context.taskId,
    action: action.type,
    executedAt: deps.now().toISOString(),
  });

  /** The actions that the rules of now have for what happened. */
  const due = async (context: HookContext): Promise<DueAction[]> =>
    dueActions((await deps.transitionHooks.read()).value, context);

  return {
    due,

    /** Does an action, unless its rule has it no more. @throws ApplicationFailure to be tried again */
    async run(actionId: string, run: ActionRun): Promise<void> {
      const action = (await due(run.context)).find(({ id }) => id === actionId);
      if (action) {
        await perform(action, run);
      }
    },
  };
}

/** The same for the same execution, however often it is run. */
const recordIdOf = (kind: string, { executionId }: ActionRun): string =>
  `${kind}_${createHash('sha256').update(executionId).digest('hex').slice(0, 12)}`;

/** A message as rules see it: an approval is of this action, and of this change. */
const messageOf = ({ executionId, context: { event, taskId, project } }: ActionRun, subject: object) => ({
  action: 'external-message' as const,
  also: 'host' in subject ? ['hook'] : ['notification'],
  actor,
  taskId,
  project,
  subject: { ...subject, event },
  change: executionId,
});
