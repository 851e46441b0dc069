import { compare, type Int } from '../int';
import { finish, sortedInSteps, type Steps } from '../steps';
import type { ColumnList } from './column-list';
import { ColumnSet, noColumns } from './column-set';

/** Rows of columns: the matrix of a field, or of one stretch of time in it. */
export class View {
  readonly rows = new Map<Int, ColumnSet>();
  private sorted: Int[] | undefined;
  /** Another number after rows came or went. */
  private changes = 0;

  row(row: Int): ColumnSet {
    return this.rows.get(row) ?? noColumns;
  }

  /** The rows that have had a bit, ascending; some may be empty by now. */
  sortedRows(): readonly Int[] {
    return finish(this.sortedRowsInSteps());
  }

  /** The same. What is written meanwhile may be in it or not. */
  *sortedRowsInSteps(): Steps<readonly Int[]> {
    if (this.sorted) {
      return this.sorted;
    }
    const { changes } = this;
    const sorted = yield* sortedInSteps([...this.rows.keys()], compare);
    if (changes === this.changes) {
      this.sorted = sorted;
    }
    return sorted;
  }

  /** The row to add to. */
  private grown(row: Int): ColumnSet {
    let columns = this.rows.get(row);
    if (!columns) {
      this.rows.set(row, (columns = new ColumnSet()));
      this.rowsChanged();
    }
    return columns;
  }

  setBit(row: Int, column: Int, present: boolean): boolean {
    if (present) {
      return this.grown(row).add(column);
    }
    const columns = this.rows.get(row);
    if (!columns?.remove(column)) {
      return false;
    }
    if (columns.isEmpty) {
      this.drop(row);
    }
    return true;
  }

  add(row: Int, columns: ColumnSet): boolean {
    const target = this.grown(row);
    const before = target.size;
    target.addAll(columns);
    return target.size !== before;
  }

  addList(row: Int, columns: ColumnList): boolean {
    const target = this.grown(row);
    const before = target.size;
    target.addList(columns);
    return target.size !== before;
  }

  remove(row: Int, columns: ColumnSet): boolean {
    const target = this.rows.get(row);
    if (!target) {
      return false;
    }
    const before = target.size;
    target.removeAll(columns);
    const after = target.size;
    if (after === 0) {
      this.drop(row);
    }
    return after !== before;
  }

  replace(row: Int, columns: ColumnSet): boolean {
    if (this.row(row).equals(columns)) {
      return false;
    }
    if (columns.isEmpty) {
      this.drop(row);
    } else {
      this.drop(row);
      this.grown(row).addAll(columns);
    }
    return true;
  }

  /** After reading a snapshot. */
  load(row: Int, page: number, bytes: Uint8Array): void {
    this.grown(row).load(page, bytes);
  }

  private drop(row: Int): void {
    if (this.rows.delete(row)) {
      this.rowsChanged();
    }
  }

  private rowsChanged(): void {
    this.changes += 1;
    this.sorted = undefined;
  }
}
