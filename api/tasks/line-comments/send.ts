import { createHash } from 'node:crypto';
import type { LaunchResponse } from '../../../contracts/runs/launch/launch';
import type { LineComment, LineCommentSend } from '../../../contracts/tasks/line-comment';
import { lineCommentMessage } from '../../../domain/review/line-comment-message';
import { AppError, conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { newRecordId } from '../../../platform/operations/operation';
import type { WorkflowContext } from '../../context';
import { continueConversation } from '../../runs/conversation/continue';
import { idempotencyKeyReused, parseIdempotencyKey } from '../../runs/idempotency-key';
import type { LaunchCaller } from '../../runs/launch/launch';
import { assertTask } from './routes';
import { sendKey, settleSends } from './settle';

/** The longest message that a follow-up may have. */
const maxMessage = 20_000;

interface Sending {
  request: LineCommentSend;
  caller: LaunchCaller;
  /**
   * Of a result that is sent back: a message is enough, and a session that cannot be continued begins again. `assertOpen` is
   * called unless the launch was requested before.
   */
  review?: { assertOpen: () => Promise<void> };
}

/** A review that was sent, with the comments as they are now. */
interface SentReview {
  launch: LaunchResponse;
  comments: LineComment[];
}

/**
 * Sends open comments to the agent of an ended attempt, as a follow-up in its session. The comments are reserved before the
 * launch and marked after it; a crash in between is made good by the next reader or by the same request. Repeated under its
 * key it is one launch.
 *
 * @throws AppError 409 without open comments, when they are too long together, and as a follow-up is refused
 */
export async function sendLineComments(
  context: WorkflowContext,
  taskId: string,
  { request, caller, review }: Sending,
): Promise<SentReview> {
  const { message: introduction, sourceAttemptId, phase, commitPolicy, idempotencyKey } = request;
  const { lineComments } = context;
  await assertTask(context, taskId);
  await settleSends(context, taskId);
  const key = caller.headerKey === undefined ? idempotencyKey : parseIdempotencyKey(caller.headerKey);
  const sendId = sendIdOf(taskId, key);
  const isClaimed = (await context.launches.find(taskId, sendKey(sendId))) !== undefined;
  if (!isClaimed) {
    await review?.assertOpen();
  }
  const optional = review !== undefined && introduction !== undefined;
  const { commentIds } = request;
  const comments = await commentsOf(context, taskId, { commentIds, sendId, optional, isClaimed });
  const message = lineCommentMessage(comments, introduction);
  try {
    assertLength(message, comments);
    const launch = await continueConversation(context, taskId, {
      edge: 'follow-up',
      request: { sourceAttemptId, message, ...compact({ phase, commitPolicy }) },
      caller: { ...caller, headerKey: sendKey(sendId) },
      orStart: review !== undefined,
    });
    const ids = comments.map(({ id }) => id);
    const sent = await lineComments.markSent(taskId, ids, { attemptId: launch.attemptId, by: caller.actor });
    return { launch, comments: sent };
  } catch (error) {
    // After any other error the launch may have happened.
    if (error instanceof AppError && error.status < 500) {
      await lineComments.release(taskId, sendId);
    }
    throw error;
  }
}

/** The id of a review, the same for the same key. */
function sendIdOf(taskId: string, key: string | undefined): string {
  if (key === undefined) {
    return newRecordId('send', 16);
  }
  return `send_${createHash('sha256').update(`${taskId}\n${key}`).digest('hex').slice(0, 32)}`;
}

interface Review {
  commentIds: string[] | undefined;
  sendId: string;
  /** Whether there may be none. */
  optional: boolean;
  /** Whether the launch was requested before. */
  isClaimed: boolean;
}

/** The comments of a review: those of an earlier try of it, else open ones. @throws AppError 409 */
async function commentsOf(context: WorkflowContext, taskId: string, review: Review): Promise<LineComment[]> {
  const { commentIds, sendId, optional, isClaimed } = review;
  const earlier = await ofEarlierTry(context, taskId, sendId);
  if (earlier.length === 0) {
    if (optional && isClaimed) {
      return [];
    }
    return reserveOpen(context, taskId, review);
  }
  const ids = earlier.map(({ id }) => id);
  if (commentIds && !isSameSet(commentIds, ids)) {
    throw idempotencyKeyReused('review', { taskId, commentIds: ids });
  }
  return earlier;
}

async function ofEarlierTry(
  { launches, lineComments }: WorkflowContext,
  taskId: string,
  sendId: string,
): Promise<LineComment[]> {
  const claim = await launches.find(taskId, sendKey(sendId));
  const sent = claim && (await lineComments.sentTo(taskId, claim.attemptId));
  return sent && sent.length > 0 ? sent : lineComments.reserved(taskId, sendId);
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  new Set(some).size === others.length && some.every((id) => others.includes(id));

async function reserveOpen(
  { lineComments }: WorkflowContext,
  taskId: string,
  { commentIds, sendId, optional }: Review,
): Promise<LineComment[]> {
  const openIds = (await lineComments.open(taskId)).map(({ id }) => id);
  const others = (commentIds ?? []).filter((id) => !openIds.includes(id));
  if (others.length > 0) {
    throw conflict(
      'Some of these comments are not open: reopen them with PATCH, or leave them out.',
      { taskId, commentIds: others },
      'LINE_COMMENT_NOT_OPEN',
    );
  }
  const reserved = await lineComments.reserve(taskId, commentIds ?? openIds, sendId);
  if (reserved.length === 0 && !optional) {
    throw conflict(
      'The task has no open comments on lines; add some with POST /api/diff/{taskId}/comments.',
      { taskId },
      'NO_OPEN_LINE_COMMENTS',
    );
  }
  return reserved;
}

/** @throws AppError 409 when the comments do not fit one message */
function assertLength(message: string, comments: readonly LineComment[]): void {
  if (message.length > maxMessage) {
    throw conflict(
      `The comments have ${message.length} characters together, of ${maxMessage} that one message may have; send a part of them with commentIds.`,
      { comments: comments.length, length: message.length, limit: maxMessage },
      'LINE_COMMENTS_TOO_LONG',
    );
  }
}
