import type { Index } from '../engine/catalog';
import type { Change, Write } from '../engine/change';
import { type ColumnList, columnList } from '../engine/column-list';
import { ColumnSet } from '../engine/column-set';
import type { Field } from '../engine/field';
import { keyBatches, type KeyTable } from '../engine/keys';
import { standardView, viewsAround, viewsAt } from '../engine/time-quantum';
import { type Int, maxInt64 } from '../int';
import { ImportBudget } from './budget';
import { ImportError } from './import-error';

const hourNanoseconds = 3_600_000_000_000n;

/** The hour of a time in nanoseconds, the shortest unit of a view, also before 1970: bigints are divided towards 0. */
function hoursOf(nanoseconds: Int): number {
  const time = BigInt(nanoseconds);
  const hours = time / hourNanoseconds;
  return Number(hours) - (time < hours * hourNanoseconds ? 1 : 0);
}

function checkKeys(keys: readonly string[]): void {
  if (keys.includes('')) {
    throw new ImportError('a key cannot be empty');
  }
}

/** Keys with the ids that they have, or will have: nothing changes until the new ones are handed out. */
interface Translation {
  ids: readonly Int[];
  handOut: (write: Write) => void;
}

/** @throws ImportError for keys that are empty, or too many */
function planTranslation(owner: { number: number; keys: KeyTable }, keys: readonly string[]): Translation {
  checkKeys(keys);
  const first = owner.keys.size + 1;
  const unknown = [...new Set(keys.filter((key) => owner.keys.id(key) === undefined))];
  const refusal = owner.keys.refusalOf(unknown.length);
  if (refusal) {
    throw new ImportError(refusal);
  }
  const planned = new Map(unknown.map((key, at) => [key, first + at]));
  return {
    ids: keys.map((key) => owner.keys.id(key) ?? planned.get(key) ?? 0),
    handOut: (write) => {
      for (const batch of keyBatches(unknown, first)) {
        write({ kind: 'keys', target: owner.number, ...batch });
      }
    },
  };
}

/** The ids of keys; new ones are given one. */
export function translate(write: Write, owner: { number: number; keys: KeyTable }, keys: readonly string[]) {
  const { ids, handOut } = planTranslation(owner, keys);
  handOut(write);
  return ids;
}

const checkIds = (ids: readonly Int[], what: string): void => {
  if (ids.some((id) => id > maxInt64)) {
    throw new ImportError(`a ${what} id is larger than 9223372036854775807`);
  }
};

/** An index, whose columns are named, or a field, whose rows are. */
interface Owner {
  number: number;
  keys: KeyTable;
  options: { keys: boolean };
}

/** The columns or rows that an import names, by number or by key. */
interface Names {
  what: 'column' | 'row';
  ids: readonly Int[];
  keys: readonly string[];
}

/** An id that no key has would belong to a key that comes later, with all of its bits. */
const notHandedOut = (what: Names['what']): ImportError =>
  new ImportError(`${what}s have keys here: an id that no key has is taken with ignoreKeyCheck=true only`);

/** Checks that names are as the index or field has them, before any key is given an id. @throws ImportError */
function checkNames({ options, keys }: Owner, names: Names, ignoreKeyCheck = false): void {
  if (names.keys.length > 0) {
    if (names.ids.length > 0) {
      throw new ImportError(`${names.what}s are named by ids or by keys, not by both`);
    }
    if (!options.keys) {
      throw new ImportError(`${names.what}s have no keys here`);
    }
    return checkKeys(names.keys);
  }
  checkIds(names.ids, names.what);
  if (options.keys && !ignoreKeyCheck && names.ids.some((id) => id < 1 || id > keys.size)) {
    throw notHandedOut(names.what);
  }
}

const idsOf = (owner: Owner, { ids, keys }: Names): Translation =>
  keys.length > 0 ? planTranslation(owner, keys) : { ids, handOut: () => undefined };

const sameLength = (lists: readonly { length: number }[]): boolean =>
  lists.every(({ length }) => length === lists[0]?.length);

export interface BitImport {
  rows: readonly Int[];
  rowKeys: readonly string[];
  columns: readonly Int[];
  columnKeys: readonly string[];
  /** Nanoseconds since 1970, 0 for none; empty: none at all. */
  timestamps: readonly Int[];
  clear: boolean;
  /** Takes any ids where there are keys. */
  ignoreKeyCheck?: boolean;
}

/** The columns of each row. */
type RowBits = Map<Int, Int[]>;
/** The columns of each row of each view. */
type Bits = Map<string, RowBits>;

function rowsOf(bits: Bits, view: string): RowBits {
  let rows = bits.get(view);
  if (!rows) {
    bits.set(view, (rows = new Map<Int, Int[]>()));
  }
  return rows;
}

function columnsOf(rows: RowBits, row: Int, budget: ImportBudget): Int[] {
  let columns = rows.get(row);
  if (!columns) {
    budget.row();
    rows.set(row, (columns = []));
  }
  return columns;
}

/** The columns of each row. Clients send them in the order of their rows: looking the row up again is rarely needed. */
function groupByRow(rows: readonly Int[], columns: readonly Int[], budget: ImportBudget): RowBits {
  const groups: RowBits = new Map();
  let row: Int | undefined;
  let group: Int[] = [];
  for (const [at, column] of columns.entries()) {
    if (rows[at] !== row) {
      group = columnsOf(groups, (row = rows[at] ?? 0), budget);
    }
    group.push(column);
  }
  return groups;
}

function setExisting(write: Write, index: Index, columns: ColumnList): void {
  if (!index.options.trackExistence) {
    return;
  }
  write({ kind: 'listed', target: index.number, view: standardView, row: 0, columns });
}

/**
 * Imports bits of a field of rows.
 *
 * @throws ImportError; 413 for too many rows
 */
export function importBits(write: Write, { index, field }: { index: Index; field: Field }, imported: BitImport): void {
  const { options } = field;
  if (field.values) {
    throw new ImportError('an integer field takes values, not bits');
  }
  const count = Math.max(imported.rows.length, imported.rowKeys.length);
  const lists = [{ length: count }, { length: Math.max(imported.columns.length, imported.columnKeys.length) }];
  if (!sameLength(imported.timestamps.length > 0 ? [...lists, imported.timestamps] : lists)) {
    throw new ImportError('rows, columns and timestamps are not as many');
  }
  const hasTimes = imported.timestamps.some((time) => time !== 0);
  if (hasTimes && !options.timeQuantum) {
    throw new ImportError(`the field ${field.name} has no time quantum`);
  }
  // The view of a year has a bit once, however many days have it: cleared for one of them, the year would lose the others.
  if (hasTimes && imported.clear) {
    throw new ImportError('bits are cleared at all times, or in the views of a roaring import: give no times');
  }
  if (options.noStandardView && !imported.clear && (!hasTimes || imported.timestamps.includes(0))) {
    throw new ImportError(`the field ${field.name} has no view for bits without a time`);
  }
  if (options.type === 'bool' && imported.rows.some((row) => row > 1)) {
    throw new ImportError('a bool field has the rows 0 and 1 only');
  }
  const rowNames: Names = { what: 'row', ids: imported.rows, keys: imported.rowKeys };
  const columnNames: Names = { what: 'column', ids: imported.columns, keys: imported.columnKeys };
  checkNames(field, rowNames, imported.ignoreKeyCheck);
  checkNames(index, columnNames, imported.ignoreKeyCheck);
  const rows = idsOf(field, rowNames);
  const columns = idsOf(index, columnNames);
  const { timestamps, clear } = imported;
  const named: NamedBits = { rows: rows.ids, columns: columns.ids, timestamps, budget: new ImportBudget() };
  const isExclusive = options.type === 'mutex' || options.type === 'bool';
  // Everything is checked, and counted, before the first key is handed out.
  const bits = isExclusive ? exclusiveBits(named, clear) : bitsByView(field, named);
  const removals = clear && options.timeQuantum ? removalsAtAllTimes(field, named) : [];
  rows.handOut(write);
  columns.handOut(write);
  if (isExclusive && !clear) {
    leaveRows(write, field, columns.ids);
  }
  writeBits(write, field, { bits, clear });
  removals.forEach(write);
  if (!clear) {
    setExisting(write, index, columnList(columns.ids));
  }
}

/** What an import of bits names, after its keys became ids. */
interface NamedBits extends Pick<BitImport, 'rows' | 'columns' | 'timestamps'> {
  budget: ImportBudget;
}

/** A bit is in the standard view and in those of its time. */
function bitsByView({ options }: Field, { rows, columns, timestamps, budget }: NamedBits): Bits {
  const bits: Bits = new Map();
  if (!options.noStandardView) {
    bits.set(standardView, groupByRow(rows, columns, budget));
  }
  // Many bits have times of the same hour, which are in the same views.
  const ofHours = new Map<number, RowBits[]>();
  for (const [at, time] of timestamps.entries()) {
    if (time === 0) {
      continue;
    }
    const hour = hoursOf(time);
    let views = ofHours.get(hour);
    if (!views) {
      views = viewsAt(60 * hour, options.timeQuantum ?? '').map((view) => rowsOf(bits, view));
      ofHours.set(hour, views);
    }
    for (const view of views) {
      columnsOf(view, rows[at] ?? 0, budget).push(columns[at] ?? 0);
    }
  }
  return bits;
}

/** What clears bits at all times, as `Clear` does. */
function removalsAtAllTimes(field: Field, { rows, columns, budget }: NamedBits): Change[] {
  const removals: Change[] = [];
  for (const [row, list] of groupByRow(rows, columns, new ImportBudget())) {
    const named = ColumnSet.of(list);
    for (const [view, { rows: held }] of field.views) {
      const present = view === standardView ? undefined : held.get(row)?.and(named);
      if (present && !present.isEmpty) {
        budget.row();
        removals.push({ kind: 'columns', target: field.number, view, row, columns: present, mode: 'remove' });
      }
    }
  }
  return removals;
}

function writeBits(write: Write, field: Field, { bits, clear }: { bits: Bits; clear: boolean }): void {
  const target = field.number;
  for (const [view, rows] of bits) {
    for (const [row, list] of rows) {
      if (clear) {
        write({ kind: 'columns', target, view, row, columns: ColumnSet.of(list), mode: 'remove' });
      } else {
        write({ kind: 'listed', target, view, row, columns: columnList(list) });
      }
    }
  }
}

/** Of a column that is named twice, the last row counts. */
function exclusiveBits({ rows, columns, budget }: NamedBits, clear: boolean): Bits {
  const byRow: RowBits = new Map();
  const pairs = columns.map((column, at) => [column, rows[at] ?? 0] as const);
  for (const [column, row] of clear ? pairs : new Map(pairs)) {
    columnsOf(byRow, row, budget).push(column);
  }
  return new Map([[standardView, byRow]]);
}

/** Columns of a field that has each in one row at most leave the rows that they are in. */
function leaveRows(write: Write, field: Field, columns: readonly Int[]): void {
  const all = ColumnSet.of([...new Set(columns)]);
  for (const [row, held] of [...(field.views.get(standardView)?.rows ?? [])]) {
    // What it has of them only: the log retains all that is named.
    const present = held.and(all);
    if (!present.isEmpty) {
      write({ kind: 'columns', target: field.number, view: standardView, row, columns: present, mode: 'remove' });
    }
  }
}

export interface ValueImport {
  columns: readonly Int[];
  columnKeys: readonly string[];
  values: readonly Int[];
  clear: boolean;
  /** Takes any ids where there are keys. */
  ignoreKeyCheck?: boolean;
}

/**
 * Imports values of an integer field.
 *
 * @throws ImportError
 */
export function importValues(
  write: Write,
  { index, field }: { index: Index; field: Field },
  values: ValueImport,
): void {
  const { min, max } = field.options;
  if (!field.values) {
    throw new ImportError(`${field.name} is not an integer field`);
  }
  const count = Math.max(values.columns.length, values.columnKeys.length);
  if (!values.clear && count !== values.values.length) {
    throw new ImportError('columns and values are not as many');
  }
  for (const value of values.clear ? [] : values.values) {
    if (min !== undefined && value < min) {
      throw new ImportError(`value ${value} is too low: the least is ${min}`);
    }
    if (max !== undefined && value > max) {
      throw new ImportError(`value ${value} is too high: the most is ${max}`);
    }
  }
  const names: Names = { what: 'column', ids: values.columns, keys: values.columnKeys };
  checkNames(index, names, values.ignoreKeyCheck);
  const { ids: columns, handOut } = idsOf(index, names);
  if (columns.length === 0) {
    return;
  }
  handOut(write);
  const target = field.number;
  if (values.clear) {
    write({ kind: 'values-removed', target, columns: ColumnSet.of(columns) });
    return;
  }
  write({ kind: 'values', target, columns, values: values.values });
  setExisting(write, index, columnList(columns));
}

/**
 * Imports positions that a client has already made bitmaps of: for each view the columns of its rows.
 *
 * @throws ImportError
 */
export function importPositions(
  write: Write,
  { index, field, clear }: { index: Index; field: Field; clear: boolean },
  views: readonly (readonly [view: string, rows: ReadonlyMap<Int, ColumnSet>])[],
): void {
  for (const [, rows] of views) {
    checkPositions(index, field, rows);
  }
  const target = field.number;
  const all = new ColumnSet();
  for (const [view, rows] of views) {
    for (const [row, columns] of rows) {
      all.addAll(columns);
      // A query of a long time reads the view of that, and no shorter ones in it.
      for (const name of clear ? [view] : viewsAround(view, field.options.timeQuantum ?? '')) {
        write({ kind: 'columns', target, view: name, row, columns, mode: clear ? 'remove' : 'add' });
      }
    }
  }
  if (clear || !index.options.trackExistence) {
    return;
  }
  write({ kind: 'columns', target: index.number, view: standardView, row: 0, columns: all, mode: 'add' });
}

/** Checks that positions are of rows and columns whose keys have been used, where there are keys. @throws ImportError */
function checkPositions(index: Index, field: Field, rows: ReadonlyMap<Int, ColumnSet>): void {
  for (const [row, columns] of rows) {
    if (field.options.keys && (row < 1 || row > field.keys.size)) {
      throw notHandedOut('row');
    }
    if (index.options.keys && !columns.isEmpty) {
      const { start = 0, end = 0 } = columns.extent() ?? {};
      if (start < 1 || end > index.keys.size + 1) {
        throw notHandedOut('column');
      }
    }
  }
}
