import { exactJson, parseExactJson } from '../../../platform/json/exact';
import type { AttributePatch } from '../engine/attributes';
import type { Change } from '../engine/change';
import type { ColumnList } from '../engine/column-list';
import { ColumnSet } from '../engine/column-set';
import type { FieldOptions, IndexOptions } from '../engine/options';
import type { Int } from '../int';
import { ByteReader, type ByteWriter, DamagedBytesError } from './bytes';

/** The first byte of a change, by kind. Never given another meaning: logs of older versions are read. */
const codes = {
  index: 1,
  field: 2,
  removed: 3,
  attributes: 4,
  keys: 5,
  bit: 6,
  columns: 7,
  value: 8,
  values: 9,
  'values-removed': 10,
  listed: 11,
} as const satisfies Record<Change['kind'], number>;

const modes = ['add', 'remove', 'replace'] as const;

function writeColumns(to: ByteWriter, columns: ColumnSet): void {
  const pages = [...columns.serialized()];
  to.u32(pages.length);
  for (const [page, bytes] of pages) {
    to.u32(page);
    to.bytes(bytes);
  }
}

function readColumns(from: ByteReader): ColumnSet {
  const columns = new ColumnSet();
  for (let pages = from.u32(); pages > 0; pages -= 1) {
    columns.load(from.u32(), from.bytes());
  }
  return columns;
}

function writeList(to: ByteWriter, columns: ColumnList): void {
  to.u32(columns.size);
  for (const [page, offsets] of columns) {
    to.u32(page);
    to.bytes(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength));
  }
}

function readList(from: ByteReader): ColumnList {
  const columns = new Map<number, Uint32Array>();
  for (let pages = from.u32(); pages > 0; pages -= 1) {
    const page = from.u32();
    // A copy, because a list of numbers has to begin at a multiple of four.
    columns.set(page, new Uint32Array(new Uint8Array(from.bytes()).buffer));
  }
  return columns;
}

/** Appends a change. */
export function writeChange(to: ByteWriter, change: Change): void {
  to.u8(codes[change.kind]);
  to.u32(change.target);
  switch (change.kind) {
    case 'index':
      to.text(change.name);
      return to.text(JSON.stringify(change.options));
    case 'field':
      to.u32(change.index);
      to.text(change.name);
      return to.text(exactJson(change.options));
    case 'removed':
      return;
    case 'attributes':
      to.i64(change.id);
      return to.text(exactJson(change.patch));
    case 'keys':
      to.u32(change.first);
      return to.text(JSON.stringify(change.keys));
    case 'bit':
      to.text(change.view);
      to.i64(change.row);
      to.i64(change.column);
      return to.u8(change.present ? 1 : 0);
    case 'columns':
      to.text(change.view);
      to.i64(change.row);
      to.u8(modes.indexOf(change.mode));
      return writeColumns(to, change.columns);
    case 'listed':
      to.text(change.view);
      to.i64(change.row);
      return writeList(to, change.columns);
    case 'value':
      to.i64(change.column);
      return to.i64(change.value);
    case 'values':
      to.u32(change.columns.length);
      for (const column of change.columns) {
        to.i64(column);
      }
      for (const value of change.values) {
        to.i64(value);
      }
      return;
    case 'values-removed':
      return writeColumns(to, change.columns);
  }
}

/**
 * Reads the next change.
 *
 * @throws DamagedBytesError
 */
export function readChange(from: ByteReader): Change {
  const code = from.u8();
  const target = from.u32();
  switch (code) {
    case codes.index:
      return { kind: 'index', target, name: from.text(), options: JSON.parse(from.text()) as IndexOptions };
    case codes.field:
      return {
        kind: 'field',
        target,
        index: from.u32(),
        name: from.text(),
        options: parseExactJson(from.text()) as FieldOptions,
      };
    case codes.removed:
      return { kind: 'removed', target };
    case codes.attributes:
      return { kind: 'attributes', target, id: from.i64(), patch: parseExactJson(from.text()) as AttributePatch };
    case codes.keys:
      return { kind: 'keys', target, first: from.u32(), keys: JSON.parse(from.text()) as string[] };
    case codes.bit:
      return {
        kind: 'bit',
        target,
        view: from.text(),
        row: from.i64(),
        column: from.i64(),
        present: from.u8() === 1,
      };
    case codes.columns: {
      const view = from.text();
      const row = from.i64();
      const mode = modes[from.u8()];
      if (!mode) {
        throw new DamagedBytesError('unknown mode');
      }
      return { kind: 'columns', target, view, row, mode, columns: readColumns(from) };
    }
    case codes.listed:
      return { kind: 'listed', target, view: from.text(), row: from.i64(), columns: readList(from) };
    case codes.value:
      return { kind: 'value', target, column: from.i64(), value: from.i64() };
    case codes.values: {
      const count = from.u32();
      const read = (): Int[] => Array.from({ length: count }, () => from.i64());
      return { kind: 'values', target, columns: read(), values: read() };
    }
    case codes['values-removed']:
      return { kind: 'values-removed', target, columns: readColumns(from) };
    default:
      throw new DamagedBytesError(`unknown kind of change ${code}`);
  }
}

/** Reads changes to the end. */
export function* readChanges(bytes: Buffer): Generator<Change> {
  const from = new ByteReader(bytes);
  while (!from.isAtEnd) {
    yield readChange(from);
  }
}
