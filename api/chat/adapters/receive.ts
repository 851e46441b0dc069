import type { AdapterReply, MappingTarget, ReplyReceipt } from '../../../contracts/chat/adapter-delivery';
import { AppError, assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import type { AdapterRecord } from '../../../stores/chat/adapter-store';
import { ingestReply, plainExternal, replyMessageId } from '../../../stores/chat/ingest-reply';
import { assertAllowed } from '../../governance/assert-allowed';
import { type AdapterContext, assertEnabled } from './adapter';

/** Replies of one adapter in a minute. */
const maxReplies = 120;
const windowMs = 60_000;

/**
 * What the thread of a reply belongs to.
 *
 * @throws AppError 404 without a target and a mapping, 409 when they contradict each other
 */
async function targetOf(
  { adapterMappings, board, squad }: AdapterContext,
  adapterId: string,
  { externalThreadId, target }: AdapterReply,
): Promise<MappingTarget> {
  const mapping = await adapterMappings.get(adapterId, externalThreadId);
  if (!target) {
    assertFound(mapping, 'mapping of the thread', externalThreadId);
    return mapping.target;
  }
  const { squadMessageId, taskId } = target;
  const contradicts =
    (squadMessageId !== undefined && squadMessageId !== mapping?.target.squadMessageId) ||
    (taskId !== undefined && taskId !== mapping?.target.taskId);
  if (mapping && contradicts) {
    const details = { adapterId, externalThreadId, current: mapping };
    throw conflict('The thread belongs to another message or task.', details, 'MAPPING_CONFLICT');
  }
  if (squadMessageId !== undefined) {
    assertFound(await squad.get(squadMessageId), 'squad message', squadMessageId);
  }
  if (taskId !== undefined) {
    assertFound(await board.get(taskId), 'task', taskId);
  }
  return target;
}

/** @throws AppError 429 when an adapter brings too many replies; one that is repeated counts once */
async function assertRate({ rates }: Pick<AdapterContext, 'rates'>, adapterId: string, once: string): Promise<void> {
  const count = await rates.countOnce({ key: ['communication-replies', adapterId], windowMs }, once);
  if (count > maxReplies) {
    throw new AppError('RATE_LIMITED', {
      status: 429,
      message: `The adapter ${adapterId} takes ${maxReplies} replies a minute.`,
      details: { adapterId, retryAfterMs: windowMs },
    });
  }
}

/** Adds a reply to the squad chat, once for its external id. @throws AppError 400, 403, 404, 409, 429 */
export async function receiveReply(
  context: AdapterContext,
  record: AdapterRecord,
  { body, auth }: { body: AdapterReply; auth: Pick<AuthContext, 'actor'> },
): Promise<ReplyReceipt> {
  const { id: adapterId } = record;
  const { actor, displayName, externalReplyId, externalThreadId } = body;
  assertEnabled(record);
  const messageId = replyMessageId(adapterId, externalReplyId);
  const before = await context.squad.get(messageId);
  if (before) {
    return { messageId, duplicate: true, ...compact({ threadId: before.threadId }) };
  }
  const message = plainExternal(body.message);
  if (message === '' || plainExternal(actor) === '') {
    const path = message === '' ? 'message' : 'actor';
    throw validationError([{ path, message: 'must have text besides tags and spaces', code: 'too_small' }]);
  }
  await assertRate(context, adapterId, messageId);
  const target = await targetOf(context, adapterId, body);
  await assertAllowed(context, 'external-message', {
    taskId: target.taskId,
    actor: auth.actor,
    also: ['squad-message', 'communication-reply'],
    subject: { adapterId, externalReplyId, message },
  });
  return ingestReply(context, {
    adapterId,
    externalThreadId,
    externalReplyId,
    actor,
    displayName,
    message,
    target,
    receivedAt: operationTime().toISOString(),
    createdBy: auth.actor,
  });
}
