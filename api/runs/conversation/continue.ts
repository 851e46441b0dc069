import type { Continuation } from '../../../contracts/runs/completion';
import type { ConversationEdge, ForkRequest } from '../../../contracts/runs/conversation';
import type { LaunchResponse } from '../../../contracts/runs/launch/launch';
import { capabilityEvidence } from '../../../domain/commands';
import { AppError, conflict, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';
import { verifiedAttempt } from '../attempts/attempt';
import { type LaunchCaller, launchRun } from '../launch/launch';
import { askedContinuation } from '../launch/watcher';

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
          continuationOf(context, source, edge).catch((error: unknown) => {
            if (orStart && error instanceof AppError && notContinuable.includes(error.code)) {
              return undefined;
            }
            throw error;
          }),
      },
    },
  });
}

/**
 * How the session of the attempt can be continued.
 *
 * @throws AppError 409 when the attempt is active, has no durable identity with its provider, or its agent is another now
 */
async function continuationOf(
  context: WorkflowContext,
  source: AttemptRecord,
  edge: ConversationEdge,
): Promise<Continuation> {
  const { _id: attemptId, completion, state } = source;
  if (!completion) {
    throw conflict('The source attempt has not ended; steer it instead.', { attemptId, state }, 'SOURCE_NOT_TERMINAL');
  }
  const { usable, ...evidence } = capabilityEvidence(source.providerRuntimeManifest, edge, `run.${edge}`);
  if (!usable) {
    throw conflict(
      `The agent of the source attempt does not support ${edge}: ${evidence.reason}`,
      { attemptId, ...evidence },
      'CAPABILITY_UNSUPPORTED',
    );
  }
  const { continuation } = completion.claims;
  if (!continuation) {
    throw conflict(
      'The source attempt left no session that can be continued; start a run instead.',
      { attemptId, provider: source.provider },
      'NO_PROVIDER_IDENTITY',
    );
  }
  const agent = (await context.routing.inputs()).agents.find(({ type }) => type === source.agent);
  if (agent?.provider !== source.provider) {
    throw conflict(
      `The agent ${source.agent} no longer uses the provider ${source.provider}.`,
      { attemptId, provider: source.provider, now: agent?.provider ?? null },
      'PROVIDER_CHANGED',
    );
  }
  return continuation;
}
