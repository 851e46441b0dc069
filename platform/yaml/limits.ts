/**
 * The parser takes time by the number of nodes, not of characters, and recursion by their depth; both happen in the process
 * that serves all callers. A long text is fine; a million list items or a thousand levels are no real document.
 */
const maxMarks = 40_000;
const maxDepth = 100;
const maxIndent = 400;

/**
 * What makes a text too expensive to parse; `undefined` when it is not. Takes one pass and no recursion.
 *
 * @param what names the text in the message
 */
export function excessOf(yaml: string, what: string): string | undefined {
  let marks = 0;
  let open = 0;
  for (const [mark] of yaml.matchAll(/[\n,[\]{}]|[-?:] /g)) {
    marks += 1;
    if (mark === '[' || mark === '{') {
      open += 1;
    }
    if (mark === ']' || mark === '}') {
      open = Math.max(0, open - 1);
    }
    if (marks > maxMarks) {
      return `${what} has more than ${maxMarks} entries`;
    }
    if (open > maxDepth) {
      return `${what} is nested more than ${maxDepth} levels deep`;
    }
  }
  if (hasManyMarksInARow(yaml)) {
    return `${what} is nested more than ${maxDepth} levels deep`;
  }
  if (wideIndent.test(yaml)) {
    return `a line of ${what} is indented by more than ${maxIndent} columns`;
  }
  return undefined;
}

/** "- - - x" nests without brackets. One pattern for all of the marks would scan each stretch again from every mark in it. */
function hasManyMarksInARow(yaml: string): boolean {
  let inARow = 0;
  let end = 0;
  for (const { 0: mark, index } of yaml.matchAll(/[-?:][ \t]+/g)) {
    inARow = index === end ? inARow + 1 : 1;
    end = index + mark.length;
    if (inARow === maxDepth) {
      return true;
    }
  }
  return false;
}

/** Indentation nests as well. */
const wideIndent = new RegExp(`^[ \\t]{${maxIndent}}`, 'm');
