import type { Index } from '../engine/catalog';
import type { Write } from '../engine/change';
import type { ColumnSet } from '../engine/column-set';
import type { Field } from '../engine/field';
import { frameIntNameOf, frameNameOf } from '../engine/frames';
import type { Minutes } from '../engine/time-quantum';
import type { Int } from '../int';
import type { Threads } from '../threads/threads';
import { type Call, isWord, textOf, type Value } from './ast';
import { CallError } from './errors';
import type { Budget } from './limits';

/** What a call is executed against. */
export interface Scope {
  index: Index;
  write: Write;
  /** The columns of the shards that reads are limited to; absent: all. */
  shards?: ColumnSet;
  now: () => Minutes;
  /** Count what takes long; absent: the main thread does everything. */
  threads?: Threads;
  /** When they give up, in milliseconds since 1970. */
  until: number;
  budget: Budget;
}

/** Rows of a bool field. */
const falseRow = 0;
const trueRow = 1;

/** @throws CallError when the index has no such field, or its data is damaged */
export function fieldOf({ index }: Scope, name: string, at: number): Field {
  const field = index.fields.get(name);
  if (!field) {
    throw new CallError(missing(name), at);
  }
  if (field.damage) {
    throw new CallError(`field ${name} is out of service: ${field.damage.reason}`, at);
  }
  return field;
}

function missing(name: string): string {
  const frame = frameNameOf(name);
  if (frame === undefined) {
    return `field not found: ${name}`;
  }
  const field = frameIntNameOf(name);
  return field === undefined ? `frame not found: ${frame}` : `field not found: ${field}`;
}

/**
 * The row that a value names: an id, a text where rows have keys, true or false in a bool field.
 *
 * @returns undefined for a key that was never used
 */
export function rowNamed(field: Field, value: Value | undefined, at: number): Int | undefined {
  if (field.options.type === 'bool') {
    if (typeof value !== 'boolean') {
      throw new CallError(`rows of the bool field ${field.name} are true and false`, at);
    }
    return value ? trueRow : falseRow;
  }
  if (field.options.keys) {
    return field.keys.id(keyText(value, `rows of the field ${field.name}`, at));
  }
  return idNumber(value, `rows of the field ${field.name}`, at);
}

/** Like `rowNamed`, and gives a new key its id. */
export function rowForWrite(
  { write }: Pick<Scope, 'write'>,
  field: Field,
  { value, at }: { value: Value | undefined; at: number },
): Int {
  const row = rowNamed(field, value, at);
  if (row !== undefined) {
    return row;
  }
  return newKey(write, field, { value, at });
}

/** The column that a value names; undefined for a key that was never used. */
export function columnNamed({ index }: Scope, value: Value | undefined, at: number): Int | undefined {
  if (!index.options.keys) {
    return idNumber(value, 'columns', at);
  }
  if (isWord(value)) {
    throw new CallError('the key of a column is a text in quotes', at);
  }
  return index.keys.id(keyText(value, 'columns', at));
}

export function columnForWrite(scope: Scope, value: Value | undefined, at: number): Int {
  const column = columnNamed(scope, value, at);
  if (column !== undefined) {
    return column;
  }
  return newKey(scope.write, scope.index, { value, at });
}

/** @throws CallError when there are as many keys as may be */
function newKey(
  write: Write,
  { number: target, keys }: Index | Field,
  { value, at }: { value: Value | undefined; at: number },
): number {
  const refusal = keys.refusalOf(1);
  if (refusal) {
    throw new CallError(refusal, at);
  }
  const first = keys.size + 1;
  write({ kind: 'keys', target, first, keys: [textOf(value) ?? ''] });
  return first;
}

function keyText(value: Value | undefined, what: string, at: number): string {
  const text = textOf(value);
  if (text === undefined) {
    throw new CallError(`${what} are named by texts`, at);
  }
  if (text === '') {
    throw new CallError('a key cannot be empty', at);
  }
  return text;
}

function idNumber(value: Value | undefined, what: string, at: number): Int {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || value < 0) {
    throw new CallError(`${what} are named by numbers from 0 to 9223372036854775807`, at);
  }
  return value;
}

/** An argument that is a count; undefined when it is absent. */
export function countArgument(call: Call, name: string): number | undefined {
  const argument = call.args.get(name);
  if (!argument) {
    return undefined;
  }
  const { value, at } = argument;
  if (typeof value !== 'number' || value < 0) {
    throw new CallError(`${name} must be a number that is not negative`, at);
  }
  return value;
}

/** The key of a row, where the field has keys. */
export const rowKey = (field: Field, row: Int): string | undefined =>
  field.options.keys ? (field.keys.key(row) ?? '') : undefined;
