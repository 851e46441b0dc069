import type { LineComment } from '../../contracts/tasks/line-comment';

const heading = 'Comments on your changes from a review. Address each of them.';

/** A path on one line: names with other characters than printable ones are quoted. */
const quotedPath = (path: string): string => (/^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(path) ? path : JSON.stringify(path));

function locationOf({ path, line, startLine, side, commit }: LineComment): string {
  const lines = line === undefined ? '' : startLine === undefined ? `:${line}` : `:${startLine}-${line}`;
  const before = side === 'old' ? ' (before the change)' : '';
  return `${quotedPath(path)}${lines}${before}${commit === undefined ? '' : ` at ${commit.slice(0, 12)}`}`;
}

const indented = (text: string, prefix: string): string => text.trimEnd().replace(/^/gm, prefix);

/**
 * The comments of a review as an agent reads them: by file and line, each with its place and what stands there.
 *
 * @param introduction the text of the reviewer before them
 */
export function lineCommentMessage(comments: readonly LineComment[], introduction?: string): string {
  const sorted = [...comments].sort(
    (a, b) =>
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      a.createdAt.localeCompare(b.createdAt) ||
      a.id.localeCompare(b.id),
  );
  const entries = sorted.map((comment, index) =>
    [
      `${index + 1}. ${locationOf(comment)}`,
      ...(comment.excerpt === undefined ? [] : [indented(comment.excerpt, '   > ')]),
      indented(comment.body, '   '),
    ].join('\n'),
  );
  const list = entries.length === 0 ? [] : [heading, ...entries];
  return [...(introduction === undefined ? [] : [introduction]), ...list].join('\n\n');
}
