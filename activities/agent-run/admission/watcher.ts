import type { Refusal } from '../../../contracts/refusal';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { continuationsOff, overContinuationCap } from '../../../domain/continuation-limits';
import { refusal } from '../../../domain/refusal';
import { continuationsIn } from '../../../stores/runs/admission/tree-store';
import type { AdmissionStores } from './dependencies';

/**
 * Why a launch by a watcher may not continue, also while it waits: continuations were turned off since it was allowed, or
 * others of its tree have used up the quota of continuations.
 */
export async function watcherProblem(
  { settings, trees }: Pick<AdmissionStores, 'settings' | 'trees'>,
  { source, rootObjectiveId, nodeId }: AdmissionRequest,
): Promise<Refusal | undefined> {
  if (source !== 'watcher') {
    return undefined;
  }
  // Straight from the store: a kill switch applies at once, also in other processes.
  const { watcher } = (await settings.read()).features;
  const count = continuationsIn(await trees.get(rootObjectiveId), nodeId);
  const reasons = [...continuationsOff(watcher), ...overContinuationCap(watcher, count)];
  if (reasons.length === 0) {
    return undefined;
  }
  const code = 'CONTINUATION_BLOCKED';
  return refusal(code, reasons.join(' '), { code, reasons, retryable: false });
}
