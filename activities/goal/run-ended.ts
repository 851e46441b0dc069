import type { GoalStore } from '../../stores/governance/goal-store';
import { goalOfRun, type MemberSources } from './members';

export interface RunEndedDependencies extends MemberSources {
  goals: Pick<GoalStore, 'goalOf' | 'markDue'>;
  lookAtGoal(goalId: string): Promise<void>;
}

/** Has the goal of a run read its end. @returns whether the run has a goal */
export const notifyGoal =
  (deps: RunEndedDependencies) =>
  async (attemptId: string): Promise<boolean> => {
    const goalId = await goalOfRun(deps, attemptId);
    if (goalId !== undefined) {
      await deps.goals.markDue(goalId);
      await deps.lookAtGoal(goalId);
    }
    return goalId !== undefined;
  };
