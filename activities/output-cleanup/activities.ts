import { activeAttemptStates } from '../../contracts/runs/attempt';
import type { RunEventInput } from '../../contracts/runs/event';
import type { Log } from '../../platform/log/log';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { OutputArtifactStore } from '../../stores/runs/output-store';

/** How many artifacts are inspected between two reads of the store. */
const batch = 200;

export interface OutputCleanup {
  /** Artifacts whose content is gone. */
  removed: number;
  /** Artifacts whose time is over, but whose task has an active run. */
  held: number;
}

/** Stores what events have captured, so that none is appended whose artifact is not there. */
export async function storeCaptured(
  { outputArtifacts }: { outputArtifacts: OutputArtifactStore },
  source: { taskId: string; attemptId: string },
  events: RunEventInput[],
): Promise<void> {
  for (const { captured } of events) {
    if (captured) {
      await outputArtifacts.keep(source, captured);
    }
  }
}

export function createOutputArtifactActivities(deps: {
  outputArtifacts: OutputArtifactStore;
  attempts: Pick<AttemptStore, 'latest'>;
  log: Log;
}) {
  /** An active run may read what earlier ones of its task have left. */
  async function isHeld(taskId: string): Promise<boolean> {
    const latest = await deps.attempts.latest(taskId);
    return latest !== undefined && activeAttemptStates.includes(latest.state);
  }

  return {
    /** Removes the content of output artifacts whose time is over, as long as no run of their task is active. */
    async cleanUpOutput(): Promise<OutputCleanup> {
      return withHeartbeat(async (signal) => {
        const done: OutputCleanup = { removed: 0, held: 0 };
        for (let after = ''; !signal.aborted;) {
          const due = await deps.outputArtifacts.due(after, batch);
          for (const artifact of due) {
            if (await isHeld(artifact.taskId)) {
              done.held += 1;
            } else if (await deps.outputArtifacts.expire(artifact)) {
              done.removed += 1;
            }
          }
          const last = due.at(-1);
          if (!last) {
            break;
          }
          after = last.expiresAt;
        }
        if (done.removed + done.held > 0) {
          deps.log.info(done, 'output artifacts cleaned up');
        }
        return done;
      });
    },
  };
}

export type OutputArtifactActivities = ReturnType<typeof createOutputArtifactActivities>;
