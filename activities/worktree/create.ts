import { createBeginWorktreeActivities } from './begin';
import type { Beginning } from './beginning';
import type { WorktreeHostDependencies } from './dependencies';
import type { StepResult } from './step';
import { createWorktreeStepActivities } from './steps';

export function createNewWorktreeActivities(deps: WorktreeHostDependencies) {
  const beginning = createBeginWorktreeActivities(deps);
  const steps = createWorktreeStepActivities(deps);
  return {
    /**
     * Writes the manifest of a new worktree and makes it, in one go because somebody waits. Repeated, it goes on where
     * an earlier try was killed.
     */
    async createWorktree(wanted: Beginning): Promise<StepResult> {
      const begun = await beginning.beginWorktree(wanted);
      const { taskId, operationId } = wanted;
      return 'state' in begun && begun.state === 'preparing' ? steps.makeWorktree({ taskId, operationId }) : begun;
    },
  };
}

export type NewWorktreeActivities = ReturnType<typeof createNewWorktreeActivities>;
