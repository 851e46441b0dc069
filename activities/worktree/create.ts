import { createBeginWorktreeActivities } from './begin/begin';
import type { Beginning } from './begin/beginning';
import type { WorktreeHostDependencies } from './dependencies';
import type { StepResult } from './step';
import { createWorktreeStepActivities } from './steps';

export function createNewWorktreeActivities(deps: WorktreeHostDependencies) {
  const beginning = createBeginWorktreeActivities(deps);
  const steps = createWorktreeStepActivities(deps);
  return {
    /**
     * Writes the manifest of a new worktree and makes it, in one activity because a caller waits. Repeated, it resumes where an
     * earlier try was killed.
     */
    async createWorktree(requested: Beginning): Promise<StepResult> {
      const begun = await beginning.beginWorktree(requested);
      const { taskId, operationId } = requested;
      return 'state' in begun && begun.state === 'preparing' ? steps.makeWorktree({ taskId, operationId }) : begun;
    },
  };
}

export type NewWorktreeActivities = ReturnType<typeof createNewWorktreeActivities>;
