import { createHash } from 'node:crypto';
import type { ForgeComment } from '../../contracts/integrations/forge';
import type { Comment } from '../../contracts/tasks/comment';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';
import { withoutTags } from '../../platform/text/without-tags';
import { issueSyncActor } from './scope';

/** The longest text and author of a comment of a task. */
const maxText = 2_000;
const maxAuthor = 100;
const cutNotice = '\n\n… (the comment has more text)';

const marker = /<!-- runboard-comment:([0-9a-f]{32}) -->/g;

/** The nonce in the last marker of a comment at a forge: a secret until the comment exists. */
export const commentNonceIn = (body: string): string | undefined => [...body.matchAll(marker)].at(-1)?.[1];

/** A comment of a task as it is sent to a forge: it names its author, whose name mentions no one. */
export const commentBody = ({ author, text }: Pick<Comment, 'author' | 'text'>, nonce: string): string =>
  `**\`${author.replace(/[`\r\n]/g, ' ')}\` wrote:**\n\n${text.replace(marker, '')}\n\n<!-- runboard-comment:${nonce} -->`;

/** A comment of a forge as one of a task. It has the same id however often it is imported. */
export function importedComment(
  { id, author, body, createdAt }: ForgeComment,
  { scope, number, actor = issueSyncActor }: { scope: string; number: number | string; actor?: string },
): Comment {
  const digest = createHash('sha256').update(`${scope}#${number}\n${id}`).digest('hex');
  // More than can be stored is not searched for tags.
  const text = withoutTags(printable(cut(body, 2 * maxText).replace(/[\ud800-\udfff]/gu, '\ufffd'))).trim();
  const isCut = body.length > 2 * maxText || text.length > maxText;
  return {
    id: `comment_${digest.slice(0, 12)}`,
    author: cut(printable(author), maxAuthor) || 'ghost',
    text: isCut ? cut(text, maxText - cutNotice.length) + cutNotice : text || '(no text)',
    timestamp: createdAt,
    revision: 1,
    createdBy: actor,
    source: { name: scope.slice(0, scope.indexOf(':')), id },
  };
}

/** The comments of a task that its issue is to get: those that someone wrote here since comments are synchronised. */
export const commentsToSend = (
  comments: readonly Comment[],
  { since, sent }: { since: string; sent: readonly string[] },
): Comment[] =>
  comments.filter(
    ({ id, createdBy, source, timestamp }) =>
      createdBy !== undefined && source === undefined && timestamp >= since && !sent.includes(id),
  );
