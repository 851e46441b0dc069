import { isUtf8 } from 'node:buffer';
import { Reader, Writer } from 'protobufjs/minimal';
import { type Int, toInt } from '../int';
import { finish, type Steps } from '../steps';

/** Bytes that are not the protobuf message they should be. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

const varint = 0;
const lengthDelimited = 2;

/** Entries of a list, a byte each at least: others wait while they are imported, about a second for as many. */
const maxListed = 2_097_152;

/** Reads the value of one field. */
export class ValueReader {
  constructor(
    private readonly reader: Reader,
    private readonly wireType: number,
  ) {}

  bytes = (): Uint8Array => this.typed(lengthDelimited).bytes();
  bool = (): boolean => this.unsigned() !== 0;
  unsigned = (): Int => readVarint(this.typed(varint));

  /** @throws ProtobufError for what is not UTF-8: different keys would become the same text */
  text(): string {
    const bytes = this.bytes();
    if (!isUtf8(bytes)) {
      throw new ProtobufError('a text is not valid UTF-8');
    }
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  }

  private typed(wireType: number): Reader {
    if (this.wireType !== wireType) {
      throw new ProtobufError('a field is of the wrong type');
    }
    return this.reader;
  }

  /** Adds the values of a repeated integer, packed or not. */
  addUnsigned(to: Int[]): void {
    this.each((value) => this.add(to, value));
  }

  addSigned(to: Int[]): void {
    this.each((value) => this.add(to, value > maxSigned ? toInt(BigInt.asIntN(64, BigInt(value))) : value));
  }

  addText(to: string[]): void {
    this.add(to, this.text());
  }

  /** @throws ProtobufError when a list gets longer than any may be */
  private add<T>(to: T[], value: T): void {
    if (to.length >= maxListed) {
      throw new ProtobufError(`a list has more than ${maxListed} entries; send it in parts`);
    }
    to.push(value);
  }

  private each(visit: (value: Int) => void): void {
    const { reader } = this;
    if (this.wireType !== lengthDelimited) {
      return visit(this.unsigned());
    }
    const end = reader.uint32() + reader.pos;
    if (end > reader.len) {
      throw new ProtobufError('a list ends after the message');
    }
    while (reader.pos < end) {
      visit(readVarint(reader));
    }
    if (reader.pos !== end) {
      throw new ProtobufError('a list ends in the middle of a number');
    }
  }
}

const maxSigned = 2n ** 63n - 1n;

/** An unsigned 64-bit integer, exactly. */
function readVarint(reader: Reader): Int {
  const { buf } = reader;
  let value = 0;
  let power = 1;
  let { pos } = reader;
  // Seven bytes hold 49 bits, which a number adds up exactly.
  for (let byte = 0; byte < 7; byte += 1, power *= 128) {
    const next = buf[pos++];
    if (next === undefined) {
      throw new ProtobufError('a number ends too early');
    }
    value += (next & 0x7f) * power;
    if (next < 0x80) {
      reader.pos = pos;
      return value;
    }
  }
  let large = BigInt(value);
  for (let shift = 49n; shift < 70n; shift += 7n) {
    const next = buf[pos++];
    if (next === undefined) {
      throw new ProtobufError('a number ends too early');
    }
    large |= BigInt(next & 0x7f) << shift;
    if (next < 0x80) {
      reader.pos = pos;
      return toInt(BigInt.asUintN(64, large));
    }
  }
  throw new ProtobufError('a number is longer than ten bytes');
}

/**
 * Reads a message field by field. `read` takes the value of the fields it knows and returns whether it did; others are
 * skipped.
 *
 * @throws ProtobufError
 */
export function readMessage(bytes: Uint8Array, read: (field: number, value: ValueReader) => boolean): void {
  const reader = Reader.create(bytes);
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (!read(tag >>> 3, new ValueReader(reader, tag & 7))) {
        reader.skipType(tag & 7);
      }
    }
  } catch (error) {
    if (error instanceof ProtobufError) {
      throw error;
    }
    throw new ProtobufError(error instanceof Error ? error.message : String(error));
  }
}

/** Writes a message. Like every proto3 writer it leaves out what has its default value. */
export class MessageWriter {
  private readonly writer = Writer.create();

  private tag(field: number, wireType: number): Writer {
    return this.writer.uint32((field << 3) | wireType);
  }

  text(field: number, value: string | undefined): this {
    if (value) {
      this.tag(field, 2).string(value);
    }
    return this;
  }

  bool(field: number, value: boolean): this {
    if (value) {
      this.tag(field, 0).bool(true);
    }
    return this;
  }

  double(field: number, value: number): this {
    if (value !== 0) {
      this.tag(field, 1).double(value);
    }
    return this;
  }

  /** A 64-bit integer, signed or not. */
  integer(field: number, value: Int): this {
    if (value !== 0) {
      this.tag(field, 0).int64(typeof value === 'bigint' ? value.toString() : value);
    }
    return this;
  }

  /** A repeated 64-bit integer, packed. */
  integers(field: number, values: Iterable<readonly Int[]>): this {
    finish(this.integersInSteps(field, values));
    return this;
  }

  *integersInSteps(field: number, values: Iterable<readonly Int[]>): Steps<void> {
    const chunks: Uint8Array[] = [];
    for (const chunk of values) {
      chunks.push(packed(chunk));
      yield;
    }
    const bytes = Buffer.concat(chunks);
    if (bytes.length > 0) {
      this.tag(field, lengthDelimited).bytes(bytes);
    }
  }

  texts(field: number, values: Iterable<string>): this {
    for (const value of values) {
      this.tag(field, 2).string(value);
    }
    return this;
  }

  message(field: number, message: MessageWriter): this {
    this.tag(field, 2).bytes(message.finish());
    return this;
  }

  finish(): Uint8Array {
    return this.writer.finish();
  }
}

/** Varints one after the other; negative ones as their 64-bit complement. */
function packed(values: readonly Int[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 10);
  let at = 0;
  for (const value of values) {
    if (typeof value === 'number' && value >= 0) {
      let rest = value;
      while (rest >= 0x80) {
        bytes[at++] = (rest % 128) | 0x80;
        rest = Math.floor(rest / 128);
      }
      bytes[at++] = rest;
    } else {
      let rest = BigInt.asUintN(64, BigInt(value));
      while (rest >= 0x80n) {
        bytes[at++] = Number(rest & 0x7fn) | 0x80;
        rest >>= 7n;
      }
      bytes[at++] = Number(rest);
    }
  }
  return bytes.slice(0, at);
}
