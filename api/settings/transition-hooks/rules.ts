import type { z } from 'zod';
import {
  maxTransitionRules,
  type TransitionHooks,
  type TransitionRule,
  type transitionRuleWrite,
} from '../../../contracts/settings/transition-hook';
import { contradictionsIn, ruleIssues } from '../../../domain/transitions/contradictions';
import { conflict, notFound, validationError } from '../../../platform/errors/app-error';
import { isSameJson } from '../../../platform/json/same';
import { currentOperation } from '../../../platform/operations/operation';

/** A rule as callers send it, without the revision they state. */
export type SentRule = Omit<z.output<typeof transitionRuleWrite>, 'id' | 'expectedRevision'>;

/** What changes the rules, on the newest of them; may run more than once. */
export type HooksChange = (current: TransitionHooks) => TransitionHooks;

/** @throws AppError 400 for rules that contradict each other or themselves */
export function assertConsistent(hooks: TransitionHooks): TransitionHooks {
  const issues = contradictionsIn(hooks);
  if (issues.length > 0) {
    throw validationError(issues);
  }
  return hooks;
}

/** A rule that was sent. @throws AppError 400 when it could never apply, or asks for two things at once */
export function consistentRule(id: string, sent: SentRule): TransitionRule {
  const rule = { ...sent, id };
  const issues = ruleIssues(rule);
  if (issues.length > 0) {
    throw validationError(issues);
  }
  return rule;
}

/** @throws AppError 404 */
export function findRule({ rules }: TransitionHooks, id: string): TransitionRule {
  const rule = rules.find((one) => one.id === id);
  if (!rule) {
    throw notFound('transition rule', id);
  }
  return rule;
}

/** Adds a rule at the end. @throws AppError 409 when its id is taken, or there are too many */
export const withRule =
  (rule: TransitionRule): HooksChange =>
  (current) => {
    const existing = current.rules.find(({ id }) => id === rule.id);
    if (existing && currentOperation()?.repeated && isSameJson(existing, rule)) {
      return current;
    }
    if (existing) {
      throw conflict('Another transition rule has this id.', {
        resourceType: 'transition-rule',
        resourceId: rule.id,
        current: existing,
      });
    }
    if (current.rules.length >= maxTransitionRules) {
      throw conflict(`There are ${maxTransitionRules} transition rules, which is the most there may be.`, {
        max: maxTransitionRules,
      });
    }
    return { ...current, rules: [...current.rules, rule] };
  };

/** Replaces a rule where it is. @throws AppError 404 from the change */
export const withRuleReplaced =
  (rule: TransitionRule): HooksChange =>
  (current) => {
    const existing = findRule(current, rule.id);
    return { ...current, rules: current.rules.map((one) => (one === existing ? rule : one)) };
  };

/** Removes a rule. @throws AppError 404 from the change */
export const withoutRule =
  (id: string): HooksChange =>
  (current) => {
    const existing = findRule(current, id);
    return { ...current, rules: current.rules.filter((one) => one !== existing) };
  };
