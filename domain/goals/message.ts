import type { ContinuationAttempt, Goal } from '../../contracts/governance/goals/goal';
import { cut } from '../../platform/text/cut';
import { missingRequirements } from './states';

/** The longest message that begins a run. */
const longest = 20_000;
/** Of it, the objective and each list. */
const longestObjective = 8_000;
const longestList = 3_000;

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most - 40).trimEnd()}\n(cut; the goal has the rest)`;

const list = (title: string, items: readonly string[]): string[] =>
  items.length === 0 ? [] : [`${title}:\n${shortened(items.map((item) => `- ${item}`).join('\n'), longestList)}`];

/** The message that begins a continuation: the objective as it is stated, and what is still open of it. */
export function continuationMessage(goal: Goal, kind: ContinuationAttempt['kind']): string {
  const missing = new Set(missingRequirements(goal));
  const open = goal.completionRequirements
    .filter(({ id }) => missing.has(id))
    .map(({ id, description, verificationKind }) => `${id} (${verificationKind}): ${description}`);
  const begin =
    kind === 'resume'
      ? 'Continue with this goal, which is not complete yet.'
      : 'Continue with this goal in a fresh conversation. Read first what is done in the worktree.';
  const parts = [
    begin,
    `Objective:\n${shortened(goal.objective, longestObjective)}`,
    ...list('Constraints', goal.constraints),
    ...list('Acceptance criteria', goal.acceptanceCriteria),
    ...list('Still without evidence; report each as a verification or an artifact of this id', open),
  ];
  return shortened(parts.join('\n\n'), longest);
}
