import { type Int, toInt } from '../int';

/** Columns of one page: what a 32-bit bitmap holds, 4,096 shards. */
export const pageWidth = 2 ** 32;

/** Columns that one container of a bitmap is for. */
export const containerWidth = 65_536;

/** Pages below this one have columns that a number holds exactly. */
export const exactPages = 2 ** 21;

/** The column at an offset of a page. */
export const columnAt = (page: number, offset: number): Int =>
  page < exactPages ? page * pageWidth + offset : toInt(BigInt(page) * BigInt(pageWidth) + BigInt(offset));

export const pageOf = (column: Int): number =>
  typeof column === 'number' ? Math.floor(column / pageWidth) : Number(column >> 32n);
export const offsetOf = (column: Int): number =>
  typeof column === 'number' ? column % pageWidth : Number(column & 0xffffffffn);

/**
 * Columns as they are imported: for each page their offsets, ascending. Adding a list to a set of columns is much cheaper
 * than making a set of it first, which takes a piece of memory for every 65,536 columns.
 */
export type ColumnList = ReadonlyMap<number, Uint32Array>;

/** @param columns in any order; the same one may be there twice */
export function columnList(columns: readonly Int[]): ColumnList {
  if (columns.length === 0) {
    return new Map();
  }
  return inFirstPage(columns) ?? new Map([...byPage(columns)].map(([page, list]) => [page, ascending(list)]));
}

/** The list of columns that are all in the first page, as nearly all are; undefined when there are others. */
function inFirstPage(columns: readonly Int[]): ColumnList | undefined {
  const offsets = new Uint32Array(columns.length);
  for (let at = 0; at < offsets.length; at += 1) {
    const column = columns[at] ?? 0;
    if (typeof column !== 'number' || column >= pageWidth) {
      return undefined;
    }
    offsets[at] = column;
  }
  return new Map([[0, ascending(offsets)]]);
}

function byPage(columns: readonly Int[]): Map<number, Uint32Array> {
  const pages = new Map<number, number[]>();
  for (const column of columns) {
    const page = pageOf(column);
    const list = pages.get(page);
    if (list) {
      list.push(offsetOf(column));
    } else {
      pages.set(page, [offsetOf(column)]);
    }
  }
  return new Map([...pages].map(([page, list]) => [page, new Uint32Array(list)]));
}

/** Sorts what is not sorted yet: clients send columns in order, and checking is much cheaper than sorting. */
function ascending(values: Uint32Array): Uint32Array {
  for (let at = 1; at < values.length; at += 1) {
    if ((values[at - 1] ?? 0) > (values[at] ?? 0)) {
      return values.sort();
    }
  }
  return values;
}
