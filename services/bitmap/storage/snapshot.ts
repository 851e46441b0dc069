import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { exactJson, parseExactJson } from '../../../platform/json/exact';
import type { AttributePatch } from '../engine/attributes';
import type { Catalog, Index } from '../engine/catalog';
import type { ColumnSet } from '../engine/column-set';
import { Field } from '../engine/field';
import { keyBatches } from '../engine/keys';
import type { FieldOptions, IndexOptions } from '../engine/options';
import { ByteReader, ByteWriter, DamagedBytesError } from './bytes';
import { frameHeader, headerSize } from './frames';

/**
 * A snapshot file holds one index or field: a frame that describes it, frames with its data, and a last one that states
 * how many there were. Bitmaps are in the portable roaring format.
 *
 * It is written during changes. What changes meanwhile may be in it or not: the log, from before the snapshot was
 * begun, is applied on top and comes to the same end either way.
 */
const codes = { head: 1, row: 2, slice: 3, attributes: 4, keys: 5, end: 6 } as const;

/** A snapshot's description of its content. */
interface Head {
  kind: 'index' | 'field';
  number: number;
  index: number;
  name: string;
  options: IndexOptions | FieldOptions;
  damage?: string;
}

export const snapshotName = (number: number): string => `data-${String(number).padStart(10, '0')}`;
export const isSnapshotName = (name: string): boolean => /^data-\d{10}$/.test(name);

/** The bitmaps of an integer field, in the order of their numbers in the file. */
const slicesOf = (field: Field): ColumnSet[] =>
  field.values ? [field.values.columns, field.values.negative, ...field.values.slices] : [];

const attributesPerFrame = 1_000;
/** So much is collected before it is written, and before others get their turn. */
const writeSize = 1_048_576;

function* framesOf(thing: Index | Field): Generator<Buffer> {
  const writer = new ByteWriter();
  const isField = thing instanceof Field;
  writer.u8(codes.head);
  const head: Head = {
    kind: isField ? 'field' : 'index',
    number: thing.number,
    index: isField ? thing.index : thing.number,
    name: thing.name,
    options: thing.options,
    damage: thing.damage?.reason,
  };
  writer.text(exactJson(head));
  yield writer.take();

  yield* isField ? fieldFrames(writer, thing) : rowFrames(writer, thing.existing, { view: '', row: 0 });

  const ids = thing.attributes.ids();
  for (let from = 0; from < ids.length; from += attributesPerFrame) {
    const some = ids.slice(from, from + attributesPerFrame);
    writer.u8(codes.attributes);
    writer.u32(some.length);
    for (const id of some) {
      writer.i64(id);
      writer.text(exactJson(Object.fromEntries(thing.attributes.of(id))));
    }
    yield writer.take();
  }
  for (const { first, keys } of keyBatches(thing.keys.all(), 1)) {
    writer.u8(codes.keys);
    writer.u32(first);
    writer.text(JSON.stringify(keys));
    yield writer.take();
  }
}

function* rowFrames(
  writer: ByteWriter,
  columns: ColumnSet,
  { view, row }: { view: string; row: number | bigint },
): Generator<Buffer> {
  columns.compact();
  for (const [page, bytes] of columns.serialized()) {
    writer.u8(codes.row);
    writer.text(view);
    writer.i64(row);
    writer.u32(page);
    writer.bytes(bytes);
    yield writer.take();
  }
}

function* fieldFrames(writer: ByteWriter, field: Field): Generator<Buffer> {
  for (const [name, view] of [...field.views]) {
    for (const row of view.sortedRows()) {
      yield* rowFrames(writer, view.row(row), { view: name, row });
    }
  }
  for (const [slice, columns] of slicesOf(field).entries()) {
    columns.compact();
    for (const [page, bytes] of columns.serialized()) {
      writer.u8(codes.slice);
      writer.u32(slice);
      writer.u32(page);
      writer.bytes(bytes);
      yield writer.take();
    }
  }
}

/**
 * Writes the snapshot of an index (without its fields) or a field, instead of the one before.
 *
 * @param logged resolves when every change so far is in the log on disk: a snapshot must not know of one that the log may lose
 */
export async function writeSnapshot(
  directory: string,
  thing: Index | Field,
  logged: () => Promise<void>,
): Promise<void> {
  const name = snapshotName(thing.number);
  const temporary = join(directory, `${name}.new`);
  const file = await open(temporary, 'w');
  try {
    let pending: Buffer[] = [];
    let pendingSize = 0;
    const flush = async (): Promise<void> => {
      const { bytesWritten } = await file.writev(pending);
      // A full disk takes a part and reports no error.
      if (bytesWritten !== pendingSize) {
        throw new Error(`only ${bytesWritten} of ${pendingSize} bytes of ${name} could be written`);
      }
      pending = [];
      pendingSize = 0;
      await yieldToOthers();
    };
    let frames = 0;
    for (const body of framesOf(thing)) {
      pending.push(frameHeader(body), body);
      pendingSize += headerSize + body.length;
      frames += 1;
      if (pendingSize >= writeSize) {
        await flush();
      }
    }
    const end = new ByteWriter();
    end.u8(codes.end);
    end.u32(frames);
    const body = end.take();
    pending.push(frameHeader(body), body);
    pendingSize += headerSize + body.length;
    await flush();
    await file.sync();
  } finally {
    await file.close();
  }
  await logged();
  await rename(temporary, join(directory, name));
}

export interface SnapshotReading {
  /** What was read, as far as the file describes it. */
  thing?: Index | Field;
  /** Absent when the file is whole. */
  problem?: string;
  size: number;
}

/** Reads a snapshot into the catalog. A damaged one is read as far as its head, so that what it was is known. */
export async function readSnapshot(directory: string, name: string, catalog: Catalog): Promise<SnapshotReading> {
  const file = await open(join(directory, name), 'r');
  let thing: Index | Field | undefined;
  let size = 0;
  try {
    let frames = 0;
    for await (const body of bodiesOf(file)) {
      size += body.length + headerSize;
      const from = new ByteReader(body);
      const code = from.u8();
      if (!thing) {
        if (code !== codes.head) {
          throw new DamagedBytesError('it does not begin with what it is');
        }
        thing = readHead(from, catalog);
      } else if (code === codes.end) {
        if (from.u32() !== frames) {
          throw new DamagedBytesError('parts of it are missing');
        }
        if (thing instanceof Field) {
          thing.values?.recount();
        }
        return { thing, size };
      } else {
        readData(code, from, thing);
      }
      frames += 1;
    }
    throw new DamagedBytesError('its end is missing');
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) {
      throw error;
    }
    return { thing, problem: error.message, size };
  } finally {
    await file.close();
  }
}

async function* bodiesOf(file: FileHandle): AsyncGenerator<Buffer> {
  const header = Buffer.alloc(headerSize);
  const { size } = await file.stat();
  for (;;) {
    const { bytesRead } = await file.read(header, 0, headerSize, null);
    if (bytesRead === 0) {
      return;
    }
    const length = header.readUInt32LE(4);
    if (bytesRead < headerSize || length > size) {
      throw new DamagedBytesError('a part of it has no header');
    }
    const body = Buffer.allocUnsafe(length);
    const read = await file.read(body, 0, length, null);
    if (read.bytesRead < length) {
      throw new DamagedBytesError('it ends too early');
    }
    if (crc32(body) !== header.readUInt32LE(8)) {
      throw new DamagedBytesError('a checksum is wrong');
    }
    yield body;
  }
}

function readHead(from: ByteReader, catalog: Catalog): Index | Field {
  const { kind, number: target, index, name, options, damage } = parseExactJson(from.text()) as Head;
  if (kind === 'index') {
    catalog.apply({ kind, target, name, options: options as IndexOptions });
  } else {
    catalog.apply({ kind, target, index, name, options: options as FieldOptions });
  }
  const thing = catalog.find(target);
  if (!thing) {
    throw new DamagedBytesError(`the index of the field ${name} is missing`);
  }
  if (damage !== undefined) {
    thing.damage = { reason: damage };
  }
  return thing;
}

function readData(code: number, from: ByteReader, thing: Index | Field): void {
  if (code === codes.row) {
    const [view, row, page] = [from.text(), from.i64(), from.u32()];
    if (thing instanceof Field) {
      thing.loadRow(view, from.bytes(), { row, page });
    } else {
      thing.existing.load(page, from.bytes());
    }
  } else if (code === codes.slice && thing instanceof Field) {
    const slice = from.u32();
    thing.values?.grow(slice - 1);
    slicesOf(thing)[slice]?.load(from.u32(), from.bytes());
  } else if (code === codes.attributes) {
    for (let count = from.u32(); count > 0; count -= 1) {
      thing.attributes.merge(from.i64(), parseExactJson(from.text()) as AttributePatch);
    }
  } else if (code === codes.keys) {
    thing.keys.load(from.u32(), JSON.parse(from.text()) as string[]);
  } else {
    throw new DamagedBytesError(`it has a part of unknown kind ${code}`);
  }
}
