import type { CompletionResult } from '../../contracts/runs/completion';
import { continuationAttemptId, isContinuedByWatcher } from '../../domain/governance/watched-end';
import type { RunContinuationStore } from '../../stores/governance/watcher-policies/run-continuation-store';
import type { AdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import type { RecoveryStore } from '../../stores/runs/recovery-store';
import type { SettingsStore } from '../../stores/settings/settings-store';

export interface PlanDependencies {
  runContinuations: Pick<RunContinuationStore, 'plan'>;
  recoveries: Pick<RecoveryStore, 'get'>;
  requests: Pick<AdmissionRequestStore, 'get'>;
  settings: Pick<SettingsStore, 'read'>;
  continueRun: (attemptId: string) => Promise<void>;
  now: () => Date;
}

/**
 * Plans the continuation of a run that has ended by the watcher, and starts it, where the settings let it. What a recovery follows, or
 * leaves to a person, is not continued; nor is what an agent or a workflow run has launched, which decides by itself.
 */
export const planContinuation =
  ({ runContinuations, recoveries, requests, settings, continueRun, now }: PlanDependencies) =>
  async (record: AttemptRecord, completion: CompletionResult): Promise<void> => {
    const { _id: sourceAttemptId, taskId } = record;
    // Straight from the store: a kill switch applies at once, also in other processes.
    const { watcher } = (await settings.read()).features;
    if (!isContinuedByWatcher(watcher, completion)) {
      return;
    }
    const edge = (await requests.get(sourceAttemptId))?.edge;
    if (edge === 'child-agent' || edge === 'workflow-step') {
      return;
    }
    const recovery = await recoveries.get(sourceAttemptId);
    if (recovery && recovery.state !== 'exhausted') {
      return;
    }
    const { state } = await runContinuations.plan({
      sourceAttemptId,
      taskId,
      status: completion.status,
      state: 'planned',
      attemptId: continuationAttemptId(sourceAttemptId),
      plannedAt: now().toISOString(),
    });
    if (state === 'planned') {
      await continueRun(sourceAttemptId);
    }
  };
