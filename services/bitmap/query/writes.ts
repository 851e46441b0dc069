import type { AttributePatch, AttributeValue } from '../engine/attributes';
import { isFraction } from '../engine/attributes';
import { noColumns } from '../engine/column-set';
import type { Field } from '../engine/field';
import { type Minutes, standardView, viewsAt } from '../engine/time-quantum';
import { type Int, isInt } from '../int';
import { itemsOfStep, type Steps } from '../steps';
import { type Argument, type Call, isWord, textOf, type Value } from './ast';
import { CallError } from './errors';
import type { Result } from './result';
import { evaluateRow, onlyChild, timeOf } from './rows';
import { columnForWrite, columnNamed, fieldOf, rowForWrite, rowNamed, type Scope } from './scope';
import { fieldArgument } from './signatures';

type WriteCall = (scope: Scope, call: Call) => Steps<Result>;

/** The calls that change data, by name. */
export const writeCalls: Record<string, WriteCall> = {
  *Set(scope, call) {
    return changed(yield* set(scope, call));
  },
  *Store(scope, call) {
    return changed(yield* store(scope, call));
  },
  Clear: inOneStep((scope, call) => changed(clear(scope, call))),
  ClearRow: inOneStep((scope, call) => changed(clearRow(scope, call))),
  SetRowAttrs: inOneStep(setRowAttributes),
  SetColumnAttrs: inOneStep(setColumnAttributes),
  SetFieldValue: inOneStep(setFieldValues),
};

function inOneStep(write: (scope: Scope, call: Call) => Result): WriteCall {
  return function* (scope, call) {
    const result = write(scope, call);
    yield;
    return result;
  };
}

const changed = (is: boolean): Result => ({ kind: 'changed', changed: is });

function markExisting({ index, write }: Scope, column: Int): void {
  if (!index.options.trackExistence) {
    return;
  }
  write({ kind: 'bit', target: index.number, view: standardView, row: 0, column, present: true });
}

function firstPositional(call: Call, what: string): { value: Value; at: number } {
  const [first] = call.positional;
  if (!first) {
    throw new CallError(`${call.name} needs ${what}`, call.at);
  }
  return first;
}

function* set(scope: Scope, call: Call): Steps<boolean> {
  const columnArgument = firstPositional(call, 'a column');
  const { name, argument } = fieldArgument(call);
  const field = fieldOf(scope, name, argument.at);
  const time = timeOf(call.positional[1], call.at);
  // Everything is checked before the first change.
  const value = field.values ? checkedValue(field, argument.value, argument.at) : undefined;
  rowOrValueIsNameable(field, argument);
  const others = yield* otherRows(scope, field, { column: columnArgument, row: argument });
  const column = columnForWrite(scope, columnArgument.value, columnArgument.at);
  if (value !== undefined) {
    markExisting(scope, column);
    return scope.write({ kind: 'value', target: field.number, column, value });
  }
  const row = rowForWrite(scope, field, { value: argument.value, at: argument.at });
  markExisting(scope, column);
  for (const other of others) {
    scope.write({ kind: 'bit', target: field.number, view: standardView, row: other, column, present: false });
  }
  return setBit(scope, field, { row, column, time });
}

function rowOrValueIsNameable(field: Field, { value, at }: Argument): void {
  if (!field.values) {
    rowNamed(field, value, at);
  }
}

/** Sets one bit in every view it belongs to; whether any was new. */
function setBit(
  scope: Scope,
  field: Field,
  { row, column, time }: { row: Int; column: Int; time: Minutes | undefined },
): boolean {
  const { options, number: target } = field;
  const standard = options.noStandardView ? [] : [standardView];
  const timed = time === undefined ? [] : viewsAt(time, options.timeQuantum ?? '');
  let isNew = false;
  for (const view of [...standard, ...timed]) {
    isNew = scope.write({ kind: 'bit', target, view, row, column, present: true }) || isNew;
  }
  return isNew;
}

/** The other rows that a column has to leave: one of a mutex or bool field is in one row at most. Nothing is written yet. */
function* otherRows(
  scope: Scope,
  field: Field,
  named: { column: { value: Value; at: number }; row: Argument },
): Steps<Int[]> {
  const { type } = field.options;
  const column = columnNamed(scope, named.column.value, named.column.at);
  if ((type !== 'mutex' && type !== 'bool') || column === undefined) {
    return [];
  }
  const retained = rowNamed(field, named.row.value, named.row.at);
  const others: Int[] = [];
  let inspected = 0;
  for (const [row, columns] of field.views.get(standardView)?.rows ?? []) {
    if (row !== retained && columns.has(column)) {
      others.push(row);
    }
    inspected += 1;
    if (inspected % itemsOfStep === 0) {
      yield;
    }
  }
  return others;
}

/** @throws CallError for what is no integer, or out of the field's bounds */
function checkedValue({ name, options }: Field, value: Value, at: number): Int {
  if (!isInt(value)) {
    throw new CallError(`${name} is an integer field and takes an integer`, at);
  }
  const isFrame = name.includes('/');
  if (options.min !== undefined && value < options.min) {
    throw new CallError(isFrame ? 'field value too low' : 'bsigroup value too low', at);
  }
  if (options.max !== undefined && value > options.max) {
    throw new CallError(isFrame ? 'field value too high' : 'bsigroup value too high', at);
  }
  return value;
}

function clear(scope: Scope, call: Call): boolean {
  const columnArgument = firstPositional(call, 'a column');
  const { name, argument } = fieldArgument(call);
  const field = fieldOf(scope, name, argument.at);
  const column = columnNamed(scope, columnArgument.value, columnArgument.at);
  if (field.values) {
    return false;
  }
  const row = rowNamed(field, argument.value, argument.at);
  if (column === undefined || row === undefined) {
    return false;
  }
  let cleared = false;
  for (const view of field.views.keys()) {
    const did = scope.write({ kind: 'bit', target: field.number, view, row, column, present: false });
    if (view === standardView) {
      cleared = did;
    }
  }
  return cleared;
}

function clearRow(scope: Scope, call: Call): boolean {
  const { name, argument } = fieldArgument(call);
  const field = fieldOf(scope, name, argument.at);
  if (field.values) {
    throw new CallError('ClearRow is not for integer fields', argument.at);
  }
  const row = rowNamed(field, argument.value, argument.at);
  if (row === undefined) {
    return false;
  }
  let cleared = false;
  for (const view of field.views.keys()) {
    const emptied = { kind: 'columns', target: field.number, view, row, columns: noColumns, mode: 'replace' } as const;
    cleared = scope.write(emptied) || cleared;
  }
  return cleared;
}

function* store(scope: Scope, call: Call): Steps<boolean> {
  const { name, argument } = fieldArgument(call);
  const field = fieldOf(scope, name, argument.at);
  if (field.options.type !== 'set') {
    throw new CallError('Store is for set fields only', argument.at);
  }
  rowNamed(field, argument.value, argument.at);
  const columns = (yield* evaluateRow(scope, onlyChild(call))).clone();
  const row = rowForWrite(scope, field, { value: argument.value, at: argument.at });
  scope.write({ kind: 'columns', target: field.number, view: standardView, row, columns, mode: 'replace' });
  return true;
}

/** The attributes of a call: all its named arguments. */
function patchOf(call: Call): AttributePatch {
  const entries = [...call.args].map(([name, { value, at }]): [string, AttributeValue | null] => {
    if (value === null || typeof value === 'boolean' || isInt(value) || isFraction(value)) {
      return [name, value];
    }
    const text = textOf(value);
    if (text === undefined) {
      throw new CallError('an attribute is a text, a number, true, false or null', at);
    }
    return [name, text];
  });
  if (entries.length === 0) {
    throw new CallError(`${call.name} needs at least one attribute`, call.at);
  }
  return Object.fromEntries(entries);
}

function setRowAttributes(scope: Scope, call: Call): Result {
  const [name, row] = call.positional;
  const fieldName = textOf(name?.value);
  if (!row || !fieldName || !isWord(name?.value)) {
    throw new CallError('SetRowAttrs needs a field and a row', call.at);
  }
  const field = fieldOf(scope, fieldName, call.at);
  if (field.values) {
    throw new CallError('an integer field has no rows that could have attributes', row.at);
  }
  const patch = patchOf(call);
  const id = rowForWrite(scope, field, { value: row.value, at: row.at });
  scope.write({ kind: 'attributes', target: field.number, id, patch });
  return { kind: 'nothing' };
}

function setColumnAttributes(scope: Scope, call: Call): Result {
  const { value, at } = firstPositional(call, 'a column');
  const patch = patchOf(call);
  const id = columnForWrite(scope, value, at);
  scope.write({ kind: 'attributes', target: scope.index.number, id, patch });
  return { kind: 'nothing' };
}

/** The earlier revision's `SetFieldValue`: several integer fields of one column at once. */
function setFieldValues(scope: Scope, call: Call): Result {
  const columnArgument = firstPositional(call, 'a column');
  const values = [...call.args].map(([name, { value, at }]) => {
    const field = fieldOf(scope, name, at);
    return { target: field.number, value: checkedValue(field, value, at) };
  });
  if (values.length === 0) {
    throw new CallError('SetFieldValue needs at least one field', call.at);
  }
  const column = columnForWrite(scope, columnArgument.value, columnArgument.at);
  markExisting(scope, column);
  for (const { target, value } of values) {
    scope.write({ kind: 'value', target, column, value });
  }
  return { kind: 'nothing' };
}
