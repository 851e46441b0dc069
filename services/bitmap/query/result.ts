import type { Attributes } from '../engine/attributes';
import type { ColumnSet } from '../engine/column-set';
import type { Int } from '../int';

/** A row with how many columns it has; `key` where rows are named by texts. */
export interface Pair {
  row: Int;
  key?: string;
  count: number;
}

export interface RowResult {
  kind: 'row';
  /** It does not change any more. */
  columns: ColumnSet;
  attributes: Attributes;
  /** Leave the columns out of the answer. */
  withoutColumns: boolean;
  withoutAttributes: boolean;
  /** Put the attributes of these columns into the answer. */
  withColumnAttributes: boolean;
}

export interface Group {
  rows: readonly { field: string; row: Int; key?: string }[];
  count: number;
}

/** The result of one call (specification 3, B: query result). */
export type Result =
  | { kind: 'nothing' }
  | { kind: 'changed'; changed: boolean }
  | RowResult
  | { kind: 'count'; count: number }
  | { kind: 'value'; value: Int; count: number }
  | { kind: 'pairs'; pairs: readonly Pair[] }
  | { kind: 'pair'; pair: Pair }
  | { kind: 'rows'; rows: readonly Int[]; keys?: readonly string[] }
  | { kind: 'groups'; groups: readonly Group[] };

/** The result of a whole query. */
export interface Answer {
  results: readonly Result[];
  /** Attributes of columns in the results, ascending; absent unless requested. */
  columnAttributes?: readonly { column: Int; key?: string; attributes: Attributes }[];
  /** The names of columns, in an index where texts name them. */
  keyOf?: (column: Int) => string;
  /** The query is written in the earlier revision's language and wants its words in the answer. */
  isEarlier: boolean;
}
