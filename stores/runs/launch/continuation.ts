import type { Continuation } from '../../../contracts/runs/completion';
import type { ConversationEdge } from '../../../contracts/runs/conversation';
import { capabilityEvidence } from '../../../domain/commands';
import { conflict } from '../../../platform/errors/app-error';
import type { RoutingStore } from '../../settings/routing-store';
import type { AttemptRecord } from '../attempt-store';

/**
 * How the session of the attempt can be continued.
 *
 * @throws AppError 409 when the attempt is active, has no durable identity with its provider, or its agent is another now
 */
export async function continuationOf(
  routing: Pick<RoutingStore, 'inputs'>,
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
  const agent = (await routing.inputs()).agents.find(({ type }) => type === source.agent);
  if (agent?.provider !== source.provider) {
    throw conflict(
      `The agent ${source.agent} no longer uses the provider ${source.provider}.`,
      { attemptId, provider: source.provider, now: agent?.provider ?? null },
      'PROVIDER_CHANGED',
    );
  }
  return continuation;
}
