import type { Goal, GoalState } from '../../contracts/governance/goals/goal';

const terminal: ReadonlySet<GoalState> = new Set(['complete', 'cancelled', 'failed']);

/** Whether nothing changes the state any more. */
export const isTerminal = (state: GoalState): boolean => terminal.has(state);

/** Whether a goal may go from one state to another: from every state that is not final to every other one. */
export const mayChange = (from: GoalState, to: GoalState): boolean => !isTerminal(from) && from !== to;

/** The required requirements that no evidence is for. */
export const missingRequirements = ({
  completionRequirements,
  completionEvidence,
}: Pick<Goal, 'completionRequirements' | 'completionEvidence'>): string[] => {
  const proven = new Set(completionEvidence.map(({ requirementId }) => requirementId));
  return completionRequirements.filter(({ id, required }) => required && !proven.has(id)).map(({ id }) => id);
};

/** Where a state change leads a goal, with its reason. */
export interface StateChange {
  state: GoalState;
  reason: string;
  blocker?: Omit<Goal['blockers'][number], 'id' | 'recordedAt'>;
  awaiting?: NonNullable<Goal['awaiting']>;
}

/** The fields of a goal after a change of its state. */
export function changedState(
  goal: Goal,
  { state, reason, blocker, awaiting }: StateChange,
  { actor, at }: { actor: string; at: string },
): Goal {
  const number = goal.blockers.length + 1;
  const blockerId = blocker && `blocker_${number}`;
  return {
    ...goal,
    state,
    awaiting: awaiting ?? null,
    blockers: blocker && blockerId ? [...goal.blockers, { id: blockerId, ...blocker, recordedAt: at }] : goal.blockers,
    transitions: [
      ...goal.transitions,
      { from: goal.state, to: state, reason, actor, at, ...(blockerId ? { blockerId } : {}) },
    ],
    terminalReason: isTerminal(state) ? reason : null,
  };
}
