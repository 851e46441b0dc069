import {
  allHandlersFinished,
  CancellationScope,
  condition,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { PhaseActivities } from '../../activities/temporary-authority/activities';
import { verified } from '../unproven';
import { expansionBegun, type TemporaryAuthorityInput } from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const records = proxyLocalActivities<PhaseActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * Authority of a run for the duration of an emergency. Its end is arranged before it begins, so that it ends whatever dies in
 * between. An operator's "cancel" ends it early.
 */
export async function temporaryAuthority(input: TemporaryAuthorityInput): Promise<{ applied: boolean }> {
  let applied: boolean | undefined;
  let cancelled = false;
  setHandler(expansionBegun, async () => {
    await CancellationScope.nonCancellable(() => condition(() => applied !== undefined));
    return { applied: applied === true };
  });
  CancellationScope.current().cancelRequested.catch(() => {
    cancelled = true;
  });
  return CancellationScope.nonCancellable(async () => {
    const { attemptId, operationId, expiresAt } = input;
    const begun = await verified(
      records.beginExpansion({ ...input, acceptedAtMs: workflowInfo().startTime.getTime() }),
    );
    applied = begun.applied;
    if (begun.applied) {
      setCurrentDetails(`More authority for ${attemptId} until ${expiresAt}.`);
      // The clock of workflow code is that of its history: a replay computes the same.
      await condition(() => cancelled, Math.max(1, Date.parse(expiresAt) - Date.now()));
      await records.endExpansion({ attemptId, operationId });
    }
    await condition(allHandlersFinished);
    return begun;
  });
}
