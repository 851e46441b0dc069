import type { EvaluatedRule } from '../../contracts/governance/trace';
import type { RouteWork, RoutingConfiguration, RoutingRule } from '../../contracts/settings/routing';

const listOf = (value: string | string[] | undefined): string[] | undefined =>
  typeof value === 'string' ? [value] : value;

/** The reason that a field of the work is not one of those required; undefined when it is. */
export function notAmong(field: string, accepted: readonly string[] | undefined, value: string | undefined) {
  if (accepted === undefined || (value !== undefined && accepted.includes(value))) {
    return undefined;
  }
  return `${field} is ${value ?? 'not given'}, not ${accepted.join(' or ')}`;
}

/** Why the rule is not for this work; undefined when it is. */
function ruleMismatch({ match }: Pick<RoutingRule, 'match'>, work: RouteWork): string | undefined {
  const { type, priority, project, minSubtasks } = match;
  const count = work.subtaskCount ?? 0;
  return (
    notAmong('type', listOf(type), work.type) ??
    notAmong('priority', listOf(priority), work.priority) ??
    notAmong('project', listOf(project), work.project) ??
    (minSubtasks !== undefined && count < minSubtasks ? `${count} subtasks, not ${minSubtasks} or more` : undefined)
  );
}

/** The result of one pass through an ordered list: its first match, and the verdict on each entry. */
export interface Evaluation<T> {
  matched: T | undefined;
  evaluated: EvaluatedRule[];
}

/** Checks enabled entries in order until one matches; everything after it is skipped. */
export function firstMatch<T extends { id: string; name: string; enabled: boolean }>(
  entries: readonly T[],
  { type, idOf, mismatch }: { type: string; idOf: (entry: T) => string; mismatch: (entry: T) => string | undefined },
): Evaluation<T> {
  let matched: T | undefined;
  const evaluated = entries.map((entry): EvaluatedRule => {
    const rule = { id: idOf(entry), label: entry.name, type };
    if (matched) {
      return { ...rule, status: 'skipped', message: 'An earlier one matched.' };
    }
    if (!entry.enabled) {
      return { ...rule, status: 'skipped', message: 'It is off.' };
    }
    const problem = mismatch(entry);
    if (problem !== undefined) {
      return { ...rule, status: 'not-matched', message: problem };
    }
    matched = entry;
    return { ...rule, status: 'matched', message: 'It matches.' };
  });
  return { matched, evaluated };
}

export const evaluateRules = ({ rules }: RoutingConfiguration, work: RouteWork): Evaluation<RoutingRule> =>
  firstMatch(rules, { type: 'routing-rule', idOf: ({ id }) => id, mismatch: (rule) => ruleMismatch(rule, work) });
