import { createActivitySigner } from '../../platform/temporal/workers/activity-signer';
import {
  createRunActivities,
  type RunActivityDependencies,
} from '../../services/workflow-runs/runs/execution/activities';
import type { WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';

export interface EngineDependencies extends Pick<RunActivityDependencies, 'proofs' | 'messageProofs' | 'now'> {
  workflowRuns: WorkflowRunStore;
}

/** The named ones of some functions. */
const pick = <T extends object, K extends keyof T>(all: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.map((name) => [name, all[name]])) as Pick<T, K>;

const nothing = (): Promise<void> => Promise.resolve();

/** What the engine does of every run: its record, its continuations, the proofs of its messages. */
export function createEngineActivities({ workflowRuns, proofs, messageProofs, now }: EngineDependencies) {
  const { engine: runs, continuations } = workflowRuns;
  // No graph of the board has prompts, whose activity is not among these; events and checkpoints are not served.
  const engine = createRunActivities({
    ...{ runs, continuations, proofs, messageProofs, now },
    checkpoints: { put: nothing },
    events: { append: () => Promise.resolve([]) },
    dispatcher: { lookAgain: nothing, startQueued: nothing },
  } as unknown as RunActivityDependencies);
  return {
    ...createActivitySigner(messageProofs),
    ...pick(engine, ['saveRun', 'verifyMessage', 'prepareContinuation', 'loadContinuation', 'deleteContinuation']),
    /** There is no limit that a run which waits or ends makes room in: agents are limited by admission. */
    runEnded: nothing,
  };
}
