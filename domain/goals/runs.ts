import type { Goal, GoalRun, GoalRunKind, GoalUsage } from '../../contracts/governance/goals/goal';
import type { TreeEdge } from '../../contracts/runs/admission';
import { addGoalUsage } from './usage';

const kinds: Partial<Record<TreeEdge, GoalRunKind>> = {
  retry: 'retry',
  fallback: 'retry',
  'child-agent': 'child',
  'workflow-step': 'child',
};

/** What a run is to a goal that its parent is of; what a child launches is a child too. */
export const kindBelow = (parent: GoalRunKind, edge: TreeEdge): GoalRunKind =>
  parent === 'child' ? 'child' : (kinds[edge] ?? 'follow-up');

/** Whether a goal has the run. */
export const hasRun = ({ continuationChain }: Pick<Goal, 'continuationChain'>, attemptId: string): boolean =>
  continuationChain.some((run) => run.attemptId === attemptId);

/** The run that the goal is at: the last one that no agent launched. */
const currentOf = (chain: readonly GoalRun[]): GoalRun | null => chain.findLast(({ kind }) => kind !== 'child') ?? null;

const withChain = (goal: Goal, continuationChain: GoalRun[]): Goal => ({
  ...goal,
  continuationChain,
  currentRun: currentOf(continuationChain),
});

/** The goal with one more run, unless it has it. */
export const withRun = (goal: Goal, run: GoalRun): Goal =>
  hasRun(goal, run.attemptId) ? goal : withChain(goal, [...goal.continuationChain, run]);

/** The goal with the end of a run, and what it used; a run is counted once. */
export function withEnd(
  goal: Goal,
  { attemptId, status, endedAt }: Required<Pick<GoalRun, 'attemptId' | 'status' | 'endedAt'>>,
  used: GoalUsage,
): Goal {
  if (goal.usageEvents.some((event) => event.attemptId === attemptId)) {
    return goal;
  }
  const chain = goal.continuationChain.map((run) => (run.attemptId === attemptId ? { ...run, status, endedAt } : run));
  return {
    ...withChain(goal, chain),
    usage: addGoalUsage(goal.usage, used),
    usageEvents: [...goal.usageEvents, { ...used, attemptId, at: endedAt }],
  };
}
