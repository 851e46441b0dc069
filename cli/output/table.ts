import { oneLine } from './plain';

export type Cell = string | number | null | undefined;

const maxCell = 60;

/** Rows under their headings, in columns as wide as what they hold. */
export function table(headings: string[], rows: Cell[][]): string {
  const cells = [headings, ...rows.map((row) => row.map((cell) => oneLine(String(cell ?? '-'), maxCell)))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => Array.from(row[column] ?? '').length)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - Array.from(cell).length))
      .join('  ')
      .trimEnd();
  return `${cells.map(line).join('\n')}\n`;
}
