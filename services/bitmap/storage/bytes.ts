import { type Int, toInt } from '../int';

/** Bytes that end before what they should hold, or hold something else. */
export class DamagedBytesError extends Error {
  override readonly name = 'DamagedBytesError';
}

/** Collects bytes, little-endian. */
export class ByteWriter {
  private buffer = Buffer.allocUnsafe(256);
  private length = 0;

  private room(size: number): number {
    const at = this.length;
    if (at + size > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, at + size));
      this.buffer.copy(larger, 0, 0, at);
      this.buffer = larger;
    }
    this.length = at + size;
    return at;
  }

  u8(value: number): void {
    const at = this.room(1);
    this.buffer[at] = value;
  }

  u32(value: number): void {
    const at = this.room(4);
    this.buffer.writeUInt32LE(value, at);
  }

  i64(value: Int): void {
    const at = this.room(8);
    if (typeof value === 'bigint') {
      this.buffer.writeBigInt64LE(value, at);
    } else {
      const high = Math.floor(value / 2 ** 32);
      this.buffer.writeUInt32LE(value - high * 2 ** 32, at);
      this.buffer.writeInt32LE(high, at + 4);
    }
  }

  bytes(value: Uint8Array): void {
    this.u32(value.length);
    const at = this.room(value.length);
    this.buffer.set(value, at);
  }

  text(value: string): void {
    this.bytes(Buffer.from(value));
  }

  get size(): number {
    return this.length;
  }

  /** What was written, which is the caller's; the writer is empty after it. */
  take(): Buffer {
    const taken = this.buffer.subarray(0, this.length);
    this.buffer = Buffer.allocUnsafe(256);
    this.length = 0;
    return taken;
  }
}

/** Reads what `ByteWriter` wrote. */
export class ByteReader {
  private at = 0;

  constructor(private readonly buffer: Buffer) {}

  private take(size: number): number {
    const at = this.at;
    if (at + size > this.buffer.length) {
      throw new DamagedBytesError('a record ends too early');
    }
    this.at += size;
    return at;
  }

  u8 = (): number => this.buffer[this.take(1)] ?? 0;
  u32 = (): number => this.buffer.readUInt32LE(this.take(4));

  i64(): Int {
    const at = this.take(8);
    const high = this.buffer.readInt32LE(at + 4);
    const value = high * 2 ** 32 + this.buffer.readUInt32LE(at);
    return Number.isSafeInteger(value) ? value : toInt(this.buffer.readBigInt64LE(at));
  }

  bytes(): Buffer {
    const length = this.u32();
    const at = this.take(length);
    return this.buffer.subarray(at, at + length);
  }

  text = (): string => this.bytes().toString();

  get isAtEnd(): boolean {
    return this.at >= this.buffer.length;
  }
}
