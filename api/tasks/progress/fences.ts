/** A line of markdown. */
export interface Line {
  text: string;
  /** Whether it is in a fenced block of code, or one of its fences: nothing in it is a heading. */
  fenced: boolean;
}

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** The marker that a line opens a block with; one of backticks has none behind it (CommonMark, Fenced code blocks). */
function openedBy(line: string): string | undefined {
  const [, marker, info = ''] = fence.exec(line) ?? [];
  return marker?.startsWith('`') && info.includes('`') ? undefined : marker;
}

/** Whether a line closes the block that `opening` began: the same mark, at least as long, and nothing else. */
function closes(line: string, opening: string): boolean {
  const [, marker, rest = ''] = fence.exec(line) ?? [];
  return marker?.startsWith(opening) === true && rest.trim() === '';
}

/** The lines of a text, and the marker of the block that is still open at its end. */
export function readLines(text: string): { lines: Line[]; open: string | undefined } {
  let open: string | undefined;
  const lines = text.split(/\r?\n/).map((line): Line => {
    if (open === undefined) {
      open = openedBy(line);
      return { text: line, fenced: open !== undefined };
    }
    if (closes(line, open)) {
      open = undefined;
    }
    return { text: line, fenced: true };
  });
  return { lines, open };
}

/** The text with its last block of code closed, so that text behind it is not taken for code. */
export function withFencesClosed(text: string): string {
  const { open } = readLines(text);
  return open === undefined ? text : `${text}\n${open}`;
}
