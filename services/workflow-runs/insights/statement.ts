/** SQL that is not run. The message is for its author. */
export class InvalidQueryError extends Error {
  override readonly name = 'InvalidQueryError';
}

/**
 * What SQLite reads as one piece: comments and space, texts and quoted names, a semicolon, words, and anything else. What
 * is not closed reaches to the end.
 */
const token =
  /(?<space>[\s\uFEFF]+|--[^\n]*|\/\*[^]*?(?:\*\/|$))|(?<quoted>'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$))|(?<end>;)|(?<word>[A-Za-z_]\w*)|[^]/gy;

const beginnings = new Set(['select', 'with', 'values']);

/**
 * Checks that a text is one statement that looks like a query. Whether it is one, and a harmless one, only its compiled
 * program shows (`program.ts`).
 *
 * @throws InvalidQueryError
 */
export function assertOneQuery(sql: string): void {
  let first: string | undefined;
  let ended = false;
  for (const { 0: piece, groups = {} } of sql.matchAll(token)) {
    if (groups.space !== undefined) {
      continue;
    }
    if (groups.end !== undefined) {
      ended = true;
      continue;
    }
    if (ended) {
      throw new InvalidQueryError('Only one statement can be executed.');
    }
    first ??= piece.toLowerCase();
  }
  if (first === undefined) {
    throw new InvalidQueryError('The query has no statement.');
  }
  if (!beginnings.has(first)) {
    throw new InvalidQueryError('Only SELECT can be executed.');
  }
}
