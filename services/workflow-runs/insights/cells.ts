import { InvalidQueryError } from './statement';

/** The value of a column in a result. */
export type Cell = string | number | boolean | null;

/** Limits of one result. It is whole, or it is refused. */
export interface AnswerLimits {
  rows: number;
  cells: number;
  bytes: number;
}

/**
 * A value of SQLite as JSON holds it: an integer that a number does not hold exactly is a text of its digits, an infinity
 * the text `Infinity` or `-Infinity`, a blob its hexadecimal digits.
 */
export function cellOf(value: unknown): Cell {
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : String(value);
  }
  if (typeof value === 'string' || value === null) {
    return value;
  }
  return Buffer.from(value as Uint8Array).toString('hex');
}

const bytesOf = (cell: Cell): number => (typeof cell === 'string' ? Buffer.byteLength(cell) : 8);

/**
 * Collects rows one by one, so that a larger result is noticed before it is all in memory.
 *
 * @throws InvalidQueryError when it is too large
 */
export function collectRows(rows: Iterable<readonly unknown[]>, limits: AnswerLimits): Cell[][] {
  const collected: Cell[][] = [];
  let cells = 0;
  let bytes = 0;
  for (const row of rows) {
    const collectedRow = row.map(cellOf);
    cells += collectedRow.length;
    bytes += collectedRow.reduce<number>((sum, cell) => sum + bytesOf(cell), 0);
    if (collected.length >= limits.rows) {
      throw tooLarge(`${limits.rows} rows`);
    }
    if (cells > limits.cells) {
      throw tooLarge(`${limits.cells} values`);
    }
    if (bytes > limits.bytes) {
      throw tooLarge(`${limits.bytes} bytes`);
    }
    collected.push(collectedRow);
  }
  return collected;
}

const tooLarge = (most: string) =>
  new InvalidQueryError(`The response has more than ${most}; narrow it, or add LIMIT.`);
