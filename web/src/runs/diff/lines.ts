import type { FileDiff } from '../../api/client';

type Line = FileDiff['hunks'][number]['lines'][number];

export type Row =
  | { kind: 'hunk'; text: string }
  | { kind: 'line'; line: Line }
  | { kind: 'pair'; old: Line | undefined; new: Line | undefined };

const heading = ({ oldStart, oldLines, newStart, newLines }: FileDiff['hunks'][number]): string =>
  `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;

/** The rows of a file with deleted and added lines one after the other. */
export const unifiedRows = ({ hunks }: FileDiff): Row[] =>
  hunks.flatMap((hunk) => [
    { kind: 'hunk' as const, text: heading(hunk) },
    ...hunk.lines.map((line) => ({ kind: 'line' as const, line })),
  ]);

/** The rows of a file with what was beside what is. */
export function splitRows({ hunks }: FileDiff): Row[] {
  const rows: Row[] = [];
  for (const hunk of hunks) {
    rows.push({ kind: 'hunk', text: heading(hunk) });
    let deleted: Line[] = [];
    let added: Line[] = [];
    const flush = () => {
      for (let index = 0; index < Math.max(deleted.length, added.length); index += 1) {
        rows.push({ kind: 'pair', old: deleted[index], new: added[index] });
      }
      deleted = [];
      added = [];
    };
    for (const line of hunk.lines) {
      if (line.type === 'delete') {
        deleted.push(line);
      } else if (line.type === 'add') {
        added.push(line);
      } else {
        flush();
        rows.push({ kind: 'pair', old: line, new: line });
      }
    }
    flush();
  }
  return rows;
}

export interface Anchor {
  path: string;
  side: 'old' | 'new';
  line: number;
  excerpt: string;
}

/** Which line of which file a comment on a line of the diff is about. */
export function anchorOf(path: string, { type, content, newNumber, oldNumber }: Line): Anchor | undefined {
  const side = type === 'delete' ? 'old' : 'new';
  const line = side === 'old' ? oldNumber : newNumber;
  return line === undefined ? undefined : { path, side, line, excerpt: content.slice(0, 500) };
}

export const anchorKey = ({ side, line }: { side: string; line?: number | undefined }): string =>
  `${side}:${line ?? 0}`;
