import type { RunRecovery } from '../../contracts/runs/recovery';
import { compact } from '../../platform/json/compact';
import type { AdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { RecoveryStore } from '../../stores/runs/recovery-store';
import type { AgentRunInput } from '../../workflows/agent-run/messages';

/** What a launch is made of; how long its steps may take is the workflow's. */
export type StoredLaunch = Omit<AgentRunInput, 'timings' | 'found' | 'proof'>;

export interface StoredLaunchSources {
  attempts: Pick<AttemptStore, 'get'>;
  requests: Pick<AdmissionRequestStore, 'get'>;
  recoveries: Pick<RecoveryStore, 'get'>;
}

/** What an attempt was launched with, as far as it is needed from here on. */
export async function launchOf(
  { requests }: Pick<StoredLaunchSources, 'requests'>,
  record: AttemptRecord,
): Promise<StoredLaunch> {
  const { _id: attemptId, rootAttemptId, parentAttemptId, retryNumber, conversation, origin } = record;
  const request = await requests.get(attemptId);
  return {
    attemptId,
    taskId: record.taskId,
    request: record.request,
    actor: record.createdBy,
    maxRetries: record.maxRetries,
    ...compact({ workspaceId: request?.workspaceId, origin }),
    ...(conversation
      ? {
          conversation: {
            // The message is stored under the id of the first attempt that was launched with it.
            documentId: retryNumber > 0 ? rootAttemptId : attemptId,
            edge: conversation.edge,
            ...compact({ sourceAttemptId: conversation.sourceAttemptId }),
          },
        }
      : {}),
    ...(retryNumber > 0 && parentAttemptId !== undefined
      ? { retry: { parentAttemptId, rootAttemptId, retryNumber } }
      : {}),
  };
}

/** What follows an attempt that failed, as its recovery was decided. */
export async function launchAfter(
  sources: Pick<StoredLaunchSources, 'requests'>,
  parent: AttemptRecord,
  { recovery, attemptId }: { recovery: Pick<RunRecovery, 'action' | 'route'>; attemptId: string },
): Promise<StoredLaunch> {
  const { origin: _first, ...launch } = await launchOf(sources, parent);
  const agent = recovery.action === 'fallback' ? recovery.route?.agent : undefined;
  // Named for the agent that failed: another one offers others.
  const { model: _model, mode: _mode, ...request } = launch.request;
  return {
    ...launch,
    attemptId,
    ...(agent === undefined ? {} : { request: { ...request, agent } }),
    retry: {
      parentAttemptId: parent._id,
      rootAttemptId: parent.rootAttemptId,
      retryNumber: parent.retryNumber + 1,
    },
  };
}

/** The launch that the stores have decided on: of an attempt that is there, or of the one that a recovery is of. */
export async function storedLaunch(
  sources: StoredLaunchSources,
  { attemptId, retry }: Pick<AgentRunInput, 'attemptId' | 'retry'>,
): Promise<StoredLaunch | undefined> {
  const record = await sources.attempts.get(attemptId);
  if (record) {
    return launchOf(sources, record);
  }
  if (!retry) {
    return undefined;
  }
  const [parent, recovery] = await Promise.all([
    sources.attempts.get(retry.parentAttemptId),
    sources.recoveries.get(retry.parentAttemptId),
  ]);
  if (!parent || recovery?.nextAttemptId !== attemptId) {
    return undefined;
  }
  return launchAfter(sources, parent, { recovery, attemptId });
}
