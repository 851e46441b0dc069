import type {
  StatusSelector,
  TransitionAction,
  TransitionHooks,
  TransitionRule,
} from '../../contracts/settings/transition-hook';
import { taskStatus } from '../../contracts/tasks/task';
import type { FieldIssue } from '../../platform/errors/app-error';
import { everyChange, includesStatus } from './rules';

/** Why rules could never apply, or ask for two things at once; paths are those of the whole setting. */
export function contradictionsIn({ rules, defaultGates, defaultActions }: TransitionHooks): FieldIssue[] {
  const ids = rules.map(({ id }) => id);
  return [
    ...repeatedIn(defaultGates, 'defaultGates'),
    ...actionIssues(defaultActions, 'defaultActions'),
    ...rules.flatMap((rule, at) => [
      ...ruleIssues(rule).map(({ path, ...issue }) => ({ path: `rules.${at}.${path}`, ...issue })),
      ...(ids.indexOf(rule.id) === at ? [] : [{ path: `rules.${at}.id`, message: 'is the id of another rule too' }]),
    ]),
  ];
}

/** The same of one rule; paths are those of the rule. */
export function ruleIssues(rule: TransitionRule): FieldIssue[] {
  const { id, from, to, gates, actions } = rule;
  const issues: FieldIssue[] = [...repeatedIn(gates, 'gates'), ...actionIssues(actions, 'actions')];
  if (id === everyChange) {
    issues.push({ path: 'id', message: `${everyChange} stands for the default gates and actions` });
  }
  if (
    !taskStatus.options.some((one) =>
      taskStatus.options.some((other) => one !== other && includesStatus(from, one) && includesStatus(to, other)),
    )
  ) {
    issues.push({ path: 'to', message: 'is the status that the task comes from: the rule could never apply' });
  }
  if (gates.includes('require-blocker-reason') && !includesStatus(to, 'blocked')) {
    issues.push({
      path: 'gates',
      message: 'require-blocker-reason is about changes to blocked, to which the rule does not lead',
    });
  }
  if (gates.length + actions.length === 0) {
    issues.push({ path: 'gates', message: 'a rule needs a gate or an action' });
  }
  return [...issues, ...repeatedStatus(from, 'from'), ...repeatedStatus(to, 'to')];
}

function actionIssues(actions: readonly TransitionAction[], path: string): FieldIssue[] {
  const types = actions.map(({ type }) => type);
  const both = types.includes('auto-start-timer') && types.includes('auto-stop-timer');
  return [
    ...repeatedIn(
      actions.map((action) => JSON.stringify(Object.entries(action).sort())),
      path,
    ),
    ...(both ? [{ path, message: 'auto-start-timer and auto-stop-timer cannot follow the same change' }] : []),
  ];
}

const repeatedStatus = (selector: StatusSelector, path: string): FieldIssue[] =>
  Array.isArray(selector) ? repeatedIn(selector, path) : [];

const repeatedIn = (values: readonly string[], path: string): FieldIssue[] =>
  new Set(values).size === values.length ? [] : [{ path, message: 'names the same thing twice' }];
