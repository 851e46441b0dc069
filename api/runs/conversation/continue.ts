import type { ConversationEdge, ForkRequest } from '../../../contracts/runs/conversation';
import type { LaunchResponse } from '../../../contracts/runs/launch/launch';
import { AppError, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { continuationOf } from '../../../stores/runs/launch/continuation';
import { askedContinuation } from '../../../stores/runs/launch/watcher-question';
import type { WorkflowContext } from '../../context';
import { verifiedAttempt } from '../attempts/attempt';
import { type LaunchCaller, launchRun } from '../launch/launch';

/** A message that continues the session of an ended attempt. */
export interface Continuing {
  edge: ConversationEdge;
  request: ForkRequest;
  caller: LaunchCaller;
  byWatcher?: boolean;
  /** Begin a new session with the message where the earlier one cannot be continued, instead of a refusal. */
  orStart?: boolean;
}

/** Why the session of an ended attempt cannot be continued. */
const notContinuable = ['CAPABILITY_UNSUPPORTED', 'NO_PROVIDER_IDENTITY', 'PROVIDER_CHANGED'];

/** Launches through the same gate and admission as a start, with exactly this terminal attempt as its source. */
export async function continueConversation(
  context: WorkflowContext,
  taskId: string,
  {
    edge,
    request: { sourceAttemptId, message, forkTurnId, phase, commitPolicy, idempotencyKey },
    caller,
    byWatcher = false,
    orStart = false,
  }: Continuing,
): Promise<LaunchResponse> {
  const source = await verifiedAttempt(context, { taskId, attemptId: sourceAttemptId });
  // The protocol of these agents forks a session at its end, and at no turn before.
  if (forkTurnId !== undefined && source.provider === 'acp') {
    throw validationError([{ path: 'forkTurnId', message: 'the agent can fork a session only at its end' }]);
  }
  const { profileId, sandboxPresetId, model, mode } = source.request;
  const request = {
    agent: source.agent,
    parentAttemptId: sourceAttemptId,
    ...compact({ profileId, sandboxPresetId, model, mode, phase, commitPolicy, idempotencyKey }),
  };
  return launchRun(context, taskId, {
    body: request,
    caller,
    from: {
      origin: byWatcher
        ? { source: 'watcher', edge, parentAttemptId: sourceAttemptId }
        : { source: 'conversation', edge, parentAttemptId: sourceAttemptId },
      ...(byWatcher ? { watcher: () => askedContinuation(context, source, message) } : {}),
      conversation: {
        edge,
        sourceAttemptId,
        ...compact({ forkTurnId }),
        message,
        continuation: () =>
          continuationOf(context.routing, source, edge).catch((error: unknown) => {
            if (orStart && error instanceof AppError && notContinuable.includes(error.code)) {
              return undefined;
            }
            throw error;
          }),
      },
    },
  });
}
