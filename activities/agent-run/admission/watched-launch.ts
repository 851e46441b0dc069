import type { AdmissionRequest } from '../../../domain/admission/request';
import type { AskedContinuation } from '../../../domain/governance/watcher-policy';
import { continuationsIn } from '../../../stores/runs/admission/tree-store';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { AdmissionStores } from './dependencies';

/**
 * What the watcher policy is asked about a launch by a watcher when it is admitted and when it leaves the queue: the settings of
 * now, its message, and how often its tree was continued before it. Its costs and failures were asked about before it was recorded.
 */
export async function watchedLaunch(
  { settings, trees }: Pick<AdmissionStores, 'settings' | 'trees'>,
  { source, rootObjectiveId, nodeId }: AdmissionRequest,
  { _id, parentAttemptId, taskId, agent, message }: AttemptRecord,
): Promise<{ watcher?: AskedContinuation }> {
  if (source !== 'watcher') {
    return {};
  }
  // Straight from the store: a kill switch applies at once, also in other processes.
  const { watcher } = (await settings.read()).features;
  const question = {
    ...{ runId: parentAttemptId ?? _id, taskId, agent, prompt: message?.text ?? '' },
    continuationCount: continuationsIn(await trees.get(rootObjectiveId), nodeId),
    ...{ monthlySpendUsd: 0, hasRecentTestFailures: false, recentProviderErrors: 0 },
  };
  return { watcher: { settings: watcher, question } };
}
