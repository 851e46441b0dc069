import type { DiffHunk, DiffLine } from '../../../contracts/runs/diff';

const types: Record<string, DiffLine['type']> = { ' ': 'context', '+': 'add', '-': 'delete' };

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Parses the hunks of a patch of one file. What follows from the counts of a header is its content, whatever it looks like. */
export function parseHunks(patch: string): DiffHunk[] {
  const rows = patch.split('\n');
  const hunks: DiffHunk[] = [];
  let at = rows.findIndex((row) => header.test(row));
  while (at >= 0 && at < rows.length) {
    const counts = header.exec(rows[at] ?? '');
    if (!counts) {
      break;
    }
    const [oldStart, oldLines, newStart, newLines] = counts
      .slice(1)
      .map((text: string | undefined) => Number(text ?? '1')) as Counts;
    const end = readLines(rows, at + 1, { oldStart, oldLines, newStart, newLines });
    hunks.push({ oldStart, oldLines, newStart, newLines, lines: end.lines });
    at = end.at;
  }
  return hunks;
}

type Counts = [oldStart: number, oldLines: number, newStart: number, newLines: number];

function readLines(
  rows: readonly string[],
  from: number,
  hunk: Omit<DiffHunk, 'lines'>,
): { lines: DiffLine[]; at: number } {
  const lines: DiffLine[] = [];
  let oldNumber = hunk.oldStart;
  let newNumber = hunk.newStart;
  let at = from;
  const missing = () => oldNumber < hunk.oldStart + hunk.oldLines || newNumber < hunk.newStart + hunk.newLines;
  for (; at < rows.length && (missing() || rows[at]?.startsWith('\\')); at += 1) {
    const row = rows[at] ?? '';
    const last = lines.at(-1);
    if (row.startsWith('\\') && last) {
      last.noNewline = true;
      continue;
    }
    const type = types[row[0] ?? ''] ?? 'context';
    const content = row.slice(1);
    const numbers = {
      ...(type === 'add' ? {} : { oldNumber: oldNumber++ }),
      ...(type === 'delete' ? {} : { newNumber: newNumber++ }),
    };
    lines.push({ type, content, ...numbers });
  }
  return { lines, at };
}

/** A file that is new or gone as one hunk. */
export function wholeFile(text: string, type: 'add' | 'delete'): DiffHunk[] {
  if (text === '') {
    return [];
  }
  const ended = text.endsWith('\n');
  const contents = (ended ? text.slice(0, -1) : text).split('\n');
  const number = type === 'add' ? 'newNumber' : 'oldNumber';
  const lines = contents.map((content, index): DiffLine => ({ type, content, [number]: index + 1 }));
  const last = lines.at(-1);
  if (!ended && last) {
    last.noNewline = true;
  }
  const count = lines.length;
  const [oldLines, newLines] = type === 'add' ? [0, count] : [count, 0];
  return [{ oldStart: Math.min(oldLines, 1), oldLines, newStart: Math.min(newLines, 1), newLines, lines }];
}

/** What one line takes of a response besides its content, in bytes, about. */
const lineOverhead = 80;

/** The bytes that a line takes as JSON, about. */
const costOf = ({ content }: DiffLine): number => Buffer.byteLength(JSON.stringify(content)) + lineOverhead;

/**
 * As many lines of a file as fit. The counts of the hunk in which it is cut are those of the lines that are left.
 *
 * @returns the hunks, what they take, and whether there are more
 */
export function fitHunks(hunks: readonly DiffHunk[], bytes: number): { hunks: DiffHunk[]; used: number; cut: boolean } {
  let used = 0;
  const fitting: DiffHunk[] = [];
  for (const hunk of hunks) {
    const lines: DiffLine[] = [];
    for (const line of hunk.lines) {
      const cost = costOf(line);
      if (used + cost > bytes) {
        return { hunks: lines.length === 0 ? fitting : [...fitting, cutHunk(hunk, lines)], used, cut: true };
      }
      used += cost;
      lines.push(line);
    }
    fitting.push(hunk);
  }
  return { hunks: fitting, used, cut: false };
}

const cutHunk = (hunk: DiffHunk, lines: DiffLine[]): DiffHunk => ({
  ...hunk,
  oldLines: lines.filter(({ type }) => type !== 'add').length,
  newLines: lines.filter(({ type }) => type !== 'delete').length,
  lines,
});
