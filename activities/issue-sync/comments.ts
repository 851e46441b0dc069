import { randomBytes } from 'node:crypto';
import type { ForgeComment, ForgeIssue } from '../../contracts/integrations/forge';
import { type Comment, maxComments } from '../../contracts/tasks/comment';
import type { Task } from '../../contracts/tasks/task';
import { commentBody, commentNonceIn, commentsToSend, importedComment } from '../../domain/issue-sync/comment-text';
import { isInbound, isOutbound } from '../../domain/issue-sync/compare';
import type { MappingRecord, SyncedComments } from '../../stores/integrations/issue-mapping-store';
import { assertMessageAllowed, type SyncRun } from './sync-run';

const none: SyncedComments = { carried: [], sent: [] };

/** The most ids that are stored of a pair, of which a task and an issue have fewer. */
const maxIds = 2 * maxComments;

/** The comments of an issue, where they are synchronised and it has some. */
export async function readComments(run: SyncRun, mapping: MappingRecord, issue: ForgeIssue): Promise<ForgeComment[]> {
  const isEmpty = issue.comments === 0 && mapping.comments?.sending === undefined;
  return run.commentsSince === undefined || isEmpty ? [] : run.forge.commentsOf(issue.number);
}

/** Records the comment that an earlier try has created without getting to know of it. */
export async function findSent(
  run: SyncRun,
  mapping: MappingRecord,
  comments: readonly ForgeComment[],
): Promise<MappingRecord> {
  const sending = mapping.comments?.sending;
  const found = sending && comments.find(({ body }) => commentNonceIn(body) === sending.nonce);
  return found ? recordSent(run, mapping, { commentId: sending.commentId, id: found.id }) : mapping;
}

/** The comments of an issue that its task is to get, and has no more room for than a task has; none that was deleted here. */
export function commentsToImport(
  run: SyncRun,
  { comments: { carried } = none }: MappingRecord,
  { comments, issue, task }: { comments: readonly ForgeComment[]; issue: ForgeIssue; task: Task },
): { ids: string[]; added: Comment[] } {
  const present = task.comments ?? [];
  const ids: string[] = [];
  const added: Comment[] = [];
  for (const comment of isInbound(run.mode) ? comments.filter(({ id }) => !carried.includes(id)) : []) {
    const imported = importedComment(comment, { scope: run.scope, number: issue.number });
    const isThere = present.some(({ id }) => id === imported.id);
    if (!isThere && present.length + added.length >= maxComments) {
      break;
    }
    ids.push(comment.id);
    added.push(...(isThere ? [] : [imported]));
  }
  return { ids, added };
}

/** The comments of a task that its issue is to get. */
export const unsentComments = (run: SyncRun, { comments: { sent } = none }: MappingRecord, task: Task): Comment[] =>
  run.commentsSince !== undefined && isOutbound(run.mode)
    ? commentsToSend(task.comments ?? [], { since: run.commentsSince, sent })
    : [];

/**
 * Creates comments at the forge, each once: the nonce is written to the mapping before, and a later try looks for the comment
 * that has it first.
 */
export async function sendComments(
  run: SyncRun,
  mapping: MappingRecord,
  { issue: { number }, task }: { issue: ForgeIssue; task: Task },
): Promise<MappingRecord> {
  let current = mapping;
  for (const comment of unsentComments(run, mapping, task)) {
    run.signal.throwIfAborted();
    await assertMessageAllowed(run, task, { also: 'issue-comment', change: `comment ${comment.id}` });
    const before = current.comments ?? none;
    const isAgain = before.sending?.commentId === comment.id;
    const nonce = isAgain && before.sending ? before.sending.nonce : randomBytes(16).toString('hex');
    const sending = { commentId: comment.id, nonce };
    current = await run.issueMappings.change(current, { comments: { ...before, sending } });
    const { id } = await run.forge.addComment(number, commentBody(comment, nonce));
    current = await recordSent(run, current, { commentId: comment.id, id });
  }
  return current;
}

const recordSent = (
  run: SyncRun,
  mapping: MappingRecord,
  { commentId, id }: { commentId: string; id: string },
): Promise<MappingRecord> => {
  const { carried, sent } = mapping.comments ?? none;
  return run.issueMappings.change(mapping, {
    comments: { carried: withIds(carried, [id]), sent: withIds(sent, [commentId]) },
  });
};

/**
 * What both sides have after these comments were imported; absent where comments are not synchronised. One that was being sent, was
 * not found at the forge and is to be sent no more was deleted here.
 */
export const commentsAfter = (
  run: SyncRun,
  { comments: { carried, sent } = none }: MappingRecord,
  imported: readonly string[],
): { comments?: SyncedComments } =>
  run.commentsSince === undefined ? {} : { comments: { carried: withIds(carried, imported), sent } };

const withIds = (ids: readonly string[], more: readonly string[]): string[] =>
  [...new Set([...ids, ...more])].slice(-maxIds);
