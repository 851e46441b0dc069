import { createHash } from 'node:crypto';
import type { HookContext } from '../../contracts/settings/hook';
import type { LaterAction, TransitionAction, TransitionHooks } from '../../contracts/settings/transition-hook';
import { actionsAfter } from './rules';

/** One action that a rule has for something that happened; its id is that of a hook, and the same as long as the rule has it. */
export interface DueAction {
  id: string;
  name: string;
  action: LaterAction;
}

const isLater = (action: TransitionAction): action is LaterAction =>
  action.type !== 'auto-start-timer' && action.type !== 'auto-stop-timer';

const idOf = (ruleId: string, action: TransitionAction): string =>
  `hook_${createHash('sha256')
    .update(`${ruleId}\n${JSON.stringify(Object.entries(action).sort())}`)
    .digest('hex')
    .slice(0, 12)}`;

/** The actions that transition rules have for something that happened to a task, other than those of its timer. */
export function dueActions(hooks: TransitionHooks, context: HookContext): DueAction[] {
  const { event, previousStatus, newStatus, taskType, project } = context;
  if (event !== 'task.status.changed' || previousStatus === undefined) {
    return [];
  }
  const transition = {
    from: previousStatus,
    to: newStatus,
    type: taskType,
    ...(project === undefined ? {} : { project }),
  };
  return actionsAfter(hooks, transition).flatMap(({ rule, action }) =>
    isLater(action) ? [{ id: idOf(rule.id, action), name: rule.name, action }] : [],
  );
}
