import type { Continuation } from '../../contracts/completion';
import {
  conversationRequest,
  forkRequest,
  type ConversationEdge,
  type ForkRequest,
} from '../../contracts/conversation';
import { launchAnswer, type LaunchAnswer } from '../../contracts/launch';
import { conflict, validationError } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { presentedIdempotencyKey } from '../../platform/http/idempotency';
import { capabilityEvidence } from '../../runs/commands';
import type { AttemptRecord } from '../../stores/attempt-store';
import { verifiedAttempt } from './attempt';
import type { RunsContext } from './context';
import { launchRun, type LaunchCaller } from './launch';
import { ofTask } from './parameters';
import { requireContinuation } from './watcher';

/** New attempts that go on with the session of an earlier one. */
export function conversationRoutes(routes: Routes, context: RunsContext): void {
  const common = {
    method: 'post' as const,
    idempotency: 'own' as const,
    tag: 'runs',
    permission: 'agent:write',
    params: ofTask,
    response: launchAnswer,
    status: 201 as const,
    errors: [404, 409, 503],
  };
  const edges = [
    [
      'resume',
      'resumeConversation',
      'Go on with the session of an ended attempt, where it was left',
      conversationRequest,
    ],
    ['follow-up', 'followUpConversation', 'Say something more in the session of an ended attempt', conversationRequest],
    ['fork', 'forkConversation', 'Begin a session of its own at a turn of an ended one', forkRequest],
  ] as const;
  for (const [edge, operationId, summary, body] of edges) {
    routes.add(
      { ...common, path: `/agents/:taskId/conversation/${edge}`, operationId, summary, body },
      ({ params, body: asked, auth, header }) =>
        goOn(context, params.taskId, edge, asked, {
          actor: auth.actor,
          workspaceId: auth.workspaceId,
          headerKey: presentedIdempotencyKey(header),
        }),
    );
  }

  routes.add(
    {
      ...common,
      path: '/agents/:taskId/conversation/continue',
      operationId: 'continueConversation',
      summary: 'Follow up an ended attempt for a watcher, where its policy allows that without a person',
      body: conversationRequest,
    },
    ({ params, body: asked, auth, header }) =>
      goOn(
        context,
        params.taskId,
        'follow-up',
        asked,
        { actor: auth.actor, workspaceId: auth.workspaceId, headerKey: presentedIdempotencyKey(header) },
        { byWatcher: true },
      ),
  );
}

/** Launches through the same gate and admission as a start, with exactly this terminal attempt as its source. */
async function goOn(
  context: RunsContext,
  taskId: string,
  edge: ConversationEdge,
  { sourceAttemptId, message, forkTurnId, phase, commitPolicy, idempotencyKey }: ForkRequest,
  caller: LaunchCaller,
  { byWatcher = false }: { byWatcher?: boolean } = {},
): Promise<LaunchAnswer> {
  const source = await verifiedAttempt(context, taskId, sourceAttemptId);
  // The protocol of these agents forks a session where it is, and at no turn before.
  if (forkTurnId !== undefined && source.provider === 'acp') {
    throw validationError([{ path: 'forkTurnId', message: 'the agent forks a session at its end only' }]);
  }
  const { profileId, sandboxPresetId } = source.request;
  const request = {
    agent: source.agent,
    parentAttemptId: sourceAttemptId,
    ...(profileId === undefined ? {} : { profileId }),
    ...(sandboxPresetId === undefined ? {} : { sandboxPresetId }),
    ...(phase === undefined ? {} : { phase }),
    ...(commitPolicy === undefined ? {} : { commitPolicy }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  return launchRun(context, taskId, request, caller, {
    origin: byWatcher
      ? { source: 'watcher', edge, parentAttemptId: sourceAttemptId }
      : { source: 'conversation', edge, parentAttemptId: sourceAttemptId },
    conversation: {
      edge,
      sourceAttemptId,
      ...(forkTurnId === undefined ? {} : { forkTurnId }),
      message,
      continuation: async () => {
        const continuation = await continuationOf(context, source, edge);
        if (byWatcher) await requireContinuation(context, source, { message, actor: caller.actor });
        return continuation;
      },
    },
  });
}

/**
 * How the session of the attempt can be gone on with.
 *
 * @throws AppError 409 when the attempt goes on, has no durable identity with its provider, or its agent is another now
 */
async function continuationOf(
  context: RunsContext,
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
      'The source attempt left nothing with its provider that could be gone on with; start a run instead.',
      { attemptId, provider: source.provider },
      'NO_PROVIDER_IDENTITY',
    );
  }
  const agent = (await context.routing.inputs()).agents.find(({ type }) => type === source.agent);
  if (agent?.provider !== source.provider) {
    throw conflict(
      `The agent ${source.agent} is not of the provider ${source.provider} any more.`,
      { attemptId, provider: source.provider, now: agent?.provider ?? null },
      'PROVIDER_CHANGED',
    );
  }
  return continuation;
}
