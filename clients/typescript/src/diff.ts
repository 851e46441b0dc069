import type { components } from './types';

/** One line of a patch. */
export interface PatchLine {
  type: 'hunk' | components['schemas']['DiffHunk']['lines'][number]['type'];
  text: string;
}

const marks = { add: '+', delete: '-', context: ' ' } as const;

/** The changed lines of a file as `diff -u` writes them. */
export const patchLines = ({ hunks }: Pick<components['schemas']['FileDiff'], 'hunks'>): PatchLine[] =>
  hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    { type: 'hunk' as const, text: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@` },
    ...lines.map(({ type, content }) => ({ type, text: marks[type] + content })),
  ]);
