import type {
  StatusSelector,
  TransitionAction,
  TransitionHooks,
  TransitionRule,
} from '../../contracts/settings/transition-hook';
import type { Task, TaskStatus } from '../../contracts/tasks/task';

/** A change of a task's status, as far as rules are selected by it. */
export interface Transition extends Pick<Task, 'type' | 'project'> {
  from: TaskStatus;
  to: TaskStatus;
}

/** What rules call the gates and actions that every change has. */
export const everyChange = 'default';

/** The status before any: a task that is created in another one comes from it. */
export const firstStatus: TaskStatus = 'todo';

export const includesStatus = (selector: StatusSelector, status: TaskStatus): boolean =>
  selector === '*' || (Array.isArray(selector) ? selector.includes(status) : selector === status);

const isAbout = (rule: TransitionRule, { from, to, type, project }: Transition): boolean =>
  rule.enabled &&
  includesStatus(rule.from, from) &&
  includesStatus(rule.to, to) &&
  (rule.taskTypes === undefined || rule.taskTypes.includes(type)) &&
  (rule.projects === undefined || (project !== undefined && rule.projects.includes(project)));

/** What a change has to obey and what follows it: the defaults first, and then the rules in their order. */
export function rulesAbout(
  { enabled, rules, defaultGates, defaultActions }: TransitionHooks,
  transition: Transition,
): Pick<TransitionRule, 'id' | 'name' | 'gates' | 'actions'>[] {
  if (!enabled || transition.from === transition.to) {
    return [];
  }
  const defaults = { id: everyChange, name: 'Every change of a status', gates: defaultGates, actions: defaultActions };
  return [defaults, ...rules.filter((rule) => isAbout(rule, transition))];
}

/** The actions that follow a change, each with the rule that has it. */
export const actionsAfter = (
  hooks: TransitionHooks,
  transition: Transition,
): { rule: Pick<TransitionRule, 'id' | 'name'>; action: TransitionAction }[] =>
  rulesAbout(hooks, transition).flatMap(({ id, name, actions }) =>
    actions.map((action) => ({ rule: { id, name }, action })),
  );
