import type { Int } from '../int';
import { rowsOfStep, type Steps } from '../steps';
import { AttributeTable } from './attributes';
import { BitSlices } from './bit-slices';
import type { DataChange } from './change';
import type { ColumnSet } from './column-set';
import { noColumns } from './column-set';
import { KeyTable } from './keys';
import type { FieldOptions } from './options';
import { Overlaps } from './overlaps';
import { RowRanks } from './row-ranks';
import { type Minutes, standardView, viewsBetween } from './time-quantum';
import { unionInSteps } from './unions';
import { View } from './view';

/** The data of a field is not all there: one of its files was damaged. */
export interface Damage {
  /** What was wrong, with the name of the file that was put aside. */
  reason: string;
}

/** One field with everything it holds: rows of bits by view, or integers; attributes and keys of its rows. */
export class Field {
  readonly views = new Map<string, View>();
  readonly values: BitSlices | undefined;
  readonly attributes = new AttributeTable();
  readonly keys = new KeyTable();
  /** For `TopN`; integer, time and bool fields have none. */
  readonly ranks: RowRanks | undefined;
  /** Of the rows of the standard view. */
  readonly overlaps = new Overlaps();
  damage: Damage | undefined;
  /** The number of its index. */
  index = 0;

  constructor(
    /** Never used again, also after the field was removed. */
    readonly number: number,
    readonly name: string,
    readonly options: FieldOptions,
  ) {
    if (options.type === 'int') {
      this.values = new BitSlices();
    }
    if (options.cacheType) {
      this.ranks = new RowRanks(options.cacheType, options.cacheSize ?? 0, {
        view: () => this.views.get(standardView),
      });
    }
  }

  view(name: string): View | undefined {
    return this.views.get(name);
  }

  /** The view to write to. */
  grownView(name: string): View {
    let view = this.views.get(name);
    if (!view) {
      this.views.set(name, (view = new View()));
    }
    return view;
  }

  row(row: Int): ColumnSet {
    return this.views.get(standardView)?.row(row) ?? noColumns;
  }

  /** The columns of a row that were set from `from` (inclusive) to `to` (exclusive); none when the field has no times. */
  *rowBetween(row: Int, times: { from: Minutes; to: Minutes }): Steps<ColumnSet> {
    const names = yield* viewsBetween(this.views.keys(), this.options.timeQuantum ?? '', times);
    return yield* unionInSteps(names.flatMap((name) => this.views.get(name)?.rows.get(row) ?? []));
  }

  /** Applies a change of bits or values; whether anything is different now. */
  apply(change: DataChange): boolean {
    switch (change.kind) {
      case 'bit':
        this.touched(change.view, change.row, change.present);
        return this.grownView(change.view).setBit(change.row, change.column, change.present);
      case 'columns': {
        this.touched(change.view, change.row, change.mode !== 'remove');
        return this.grownView(change.view)[change.mode](change.row, change.columns);
      }
      case 'listed':
        this.touched(change.view, change.row, true);
        return this.grownView(change.view).addList(change.row, change.columns);
      case 'value':
        return this.values?.set(change.column, change.value) ?? false;
      case 'values':
        this.values?.setMany(change.columns, change.values);
        return true;
      case 'values-removed':
        return this.values?.clear(change.columns) ?? false;
    }
  }

  /** Loads a row of a snapshot. */
  loadRow(view: string, bytes: Uint8Array, { row, page }: { row: Int; page: number }): void {
    this.grownView(view).load(row, page, bytes);
    this.touched(view, row, true);
  }

  private touched(view: string, row: Int, isAddition: boolean): void {
    if (view === standardView && this.ranks) {
      if (isAddition) {
        this.ranks.touch(row);
      } else {
        this.ranks.markStale();
      }
    }
  }

  /** The highest shard that has data, or undefined without any. */
  *highestShard(): Steps<number | undefined> {
    let highest = this.values?.columns.highestShard();
    let inspected = 0;
    for (const view of this.views.values()) {
      for (const columns of view.rows.values()) {
        const shard = columns.highestShard();
        highest = shard === undefined ? highest : Math.max(highest ?? 0, shard);
        inspected += 1;
        if (inspected % rowsOfStep === 0) {
          yield;
        }
      }
    }
    return highest;
  }
}
