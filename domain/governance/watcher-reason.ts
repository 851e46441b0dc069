import type { EvaluatedRule } from '../../contracts/governance/trace';
import type { RuleReason } from './action';
import { type AskedContinuation, decideContinuation } from './watcher-policy';

/** What the watcher policy is called among the rules. */
const id = 'watcher';

/** What the watcher policy decides about a continuation, as one of the rules: nothing while it allows it. */
export function watcherReason({ settings, question }: AskedContinuation): {
  reason: RuleReason | undefined;
  evaluated: EvaluatedRule;
} {
  const watcher = decideContinuation(settings, question);
  const message = watcher.reasons.join(' ');
  const evaluated = { id, label: watcher.mode, type: 'watcher-policy', message };
  if (watcher.decision === 'allow') {
    return { reason: undefined, evaluated: { ...evaluated, status: 'not-matched' } };
  }
  const blocks = watcher.decision === 'blocked';
  return {
    evaluated: { ...evaluated, status: 'matched', outcome: blocks ? 'blocked' : 'approval-required' },
    reason: {
      source: 'watcher-policy',
      id,
      decision: blocks ? 'block' : 'require-approval',
      reason: message,
      remedy: blocks
        ? 'A person may send the message as a follow-up; the settings are those of watcher in /api/settings/features.'
        : 'After a review an operator can send the message as a follow-up.',
      watcher,
    },
  };
}
