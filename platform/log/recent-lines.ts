/** How many lines of this process are retained, and how long they are together and each, in characters. */
const maxLines = 1_000;
const maxLength = 4_194_304;
const maxLineLength = 65_536;

/** A line as it was logged: the JSON of one entry. */
export interface RetainedLine {
  /** 1, 2, 3 … since the process began. */
  sequence: number;
  line: string;
}

let lines: RetainedLine[] = [];
let count = 0;
let length = 0;

/** A part of a line could begin or end in the middle of a secret, which has no shape then. */
const withoutLong = (line: string): string =>
  line.length > maxLineLength ? JSON.stringify({ msg: `a line of ${line.length} characters was not retained` }) : line;

/** Retains a line that is logged; the oldest go. There is one such list for a process, as there is one output. */
export function retainLine(logged: string): void {
  count += 1;
  const line = withoutLong(logged);
  lines.push({ sequence: count, line });
  length += line.length;
  // Rarely, since the rest is moved.
  if (lines.length > maxLines * 1.1 || length > maxLength * 1.1) {
    lines = newest();
    length = lines.reduce((sum, one) => sum + one.line.length, 0);
  }
}

function newest(): RetainedLine[] {
  let [first, total] = [lines.length, 0];
  while (first > 0 && lines.length - first < maxLines && total < maxLength) {
    first -= 1;
    total += lines[first]?.line.length ?? 0;
  }
  return lines.slice(first);
}

/** The latest lines that this process has logged, the oldest first. */
export const recentLines = (): readonly RetainedLine[] => lines.slice(-maxLines);
