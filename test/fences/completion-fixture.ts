import { type CompletionDependencies } from '../../activities/agent-run/completion/activities';
import type { Board } from '../../stores/board-files/types';
import { openBudgets } from '../../stores/governance/budgets/budgets';
import { createActiveRunStore } from '../../stores/runs/admission/active-run-store';
import { createAttemptStore } from '../../stores/runs/attempt-store';
import { createClaimStore } from '../../stores/runs/claim-store';
import { createRunEventStore } from '../../stores/runs/event-store';
import { createPhaseStore } from '../../stores/runs/phase-store';
import { createRecoveryStore } from '../../stores/runs/recovery-store';
import { createWorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { createFeedStore } from '../../stores/system/feed-store';
import { createTelemetryStore } from '../../stores/system/telemetry-store';
import { type AdmissionFixture } from './admission-fixture';

/** What the activities of a completion depend on, over real stores. Requests for approval that it withdraws are added to `withdrawn`. */
export async function completionDependencies(
  { db, control }: AdmissionFixture,
  { board, withdrawn, now }: { board: Board; withdrawn: string[]; now: () => Date },
): Promise<CompletionDependencies> {
  const feed = await createFeedStore(db);
  return {
    board,
    attempts: await createAttemptStore(db),
    activeRuns: await createActiveRunStore(db),
    admission: control,
    recoveries: await createRecoveryStore(db),
    claims: await createClaimStore(db),
    worktrees: await createWorktreeStore(db),
    telemetry: await createTelemetryStore(db),
    events: await createRunEventStore(db, feed),
    phases: await createPhaseStore(db),
    feed,
    budgets: await openBudgets(db, { settings: control.settings, isOver: async () => false }),
    audit: { record: async () => undefined },
    withdrawApprovals: async (attemptId: string) => void withdrawn.push(attemptId),
    notifyGoal: async () => false,
    planContinuation: async () => undefined,
    messageProofs: { verify: () => undefined },
    log: control.log,
    now,
  } as unknown as CompletionDependencies;
}
