import type { Int } from '../int';
import type { AttributePatch } from './attributes';
import type { ColumnList } from './column-list';
import type { ColumnSet } from './column-set';
import type { FieldOptions, IndexOptions } from './options';

/**
 * Everything that can happen to the data. A change states its outcome, not what was requested, so that applying a
 * stretch of changes again, in order, on top of their own outcome changes nothing: snapshots may be taken while changes
 * continue.
 *
 * `target` is the number of an index or a field; numbers are never used again. Bits with the number of an index are about
 * which columns exist, attributes and keys with it about columns.
 */
export type Change =
  | { kind: 'index'; target: number; name: string; options: IndexOptions }
  | { kind: 'field'; target: number; index: number; name: string; options: FieldOptions }
  | { kind: 'removed'; target: number }
  | { kind: 'attributes'; target: number; id: Int; patch: AttributePatch }
  | { kind: 'keys'; target: number; first: number; keys: readonly string[] }
  | DataChange;

/** What happens to bits and values. */
export type DataChange =
  | { kind: 'bit'; target: number; view: string; row: Int; column: Int; present: boolean }
  | { kind: 'columns'; target: number; view: string; row: Int; columns: ColumnSet; mode: 'add' | 'remove' | 'replace' }
  | { kind: 'listed'; target: number; view: string; row: Int; columns: ColumnList }
  | { kind: 'value'; target: number; column: Int; value: Int }
  | { kind: 'values'; target: number; columns: readonly Int[]; values: readonly Int[] }
  | { kind: 'values-removed'; target: number; columns: ColumnSet };

/** Takes a change over, and applies it; whether anything is different now. */
export type Write = (change: Change) => boolean;
