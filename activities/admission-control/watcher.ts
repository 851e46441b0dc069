import type { LaunchRefusal } from '../../contracts/launch';
import type { AdmissionRequest } from '../../runs/admission/request';
import { refusal } from '../../runs/refusal';
import { continuationsIn } from '../../stores/tree-store';
import type { AdmissionStores } from './dependencies';

/**
 * Why a launch by a watcher may not go on by now, also while it waits: continuations were turned off since it was
 * allowed, or others of its tree have used up how often a run is gone on with.
 */
export async function watcherProblem(
  { settings, trees }: Pick<AdmissionStores, 'settings' | 'trees'>,
  { source, rootObjectiveId, nodeId }: AdmissionRequest,
): Promise<LaunchRefusal | undefined> {
  if (source !== 'watcher') return undefined;
  // Straight from the store: a kill switch holds at once, also in other processes.
  const { enabled, globalKillSwitch, maxContinuationsPerRun } = (await settings.read()).features.watcher;
  const count = continuationsIn(await trees.get(rootObjectiveId), nodeId);
  const reasons = [
    ...(enabled ? [] : ['Continuations are turned off (watcher.enabled).']),
    ...(globalKillSwitch ? ['The kill switch is on (watcher.globalKillSwitch).'] : []),
    ...(count >= maxContinuationsPerRun
      ? [`The run was gone on with ${count} times; the cap is ${maxContinuationsPerRun}.`]
      : []),
  ];
  if (reasons.length === 0) return undefined;
  const code = 'CONTINUATION_BLOCKED';
  return refusal(code, 409, reasons.join(' '), { code, reasons, retryable: false });
}
