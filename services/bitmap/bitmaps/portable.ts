import { endianness } from 'node:os';
import { type Container, countOf, fromList, fromWords, isList, isRuns, type Runs, sizeOf } from './containers';

/** Bytes that are not a bitmap. */
export class BitmapFormatError extends Error {
  override readonly name = 'BitmapFormatError';
}

const withoutRuns = 12346;
const withRuns = 12347;
export const unsorted = 'the containers are not ascending';
const wrongCount = 'a container does not hold as many values as it declares';
/** From how many containers on the format with runs also holds offsets. */
const offsetsFrom = 4;

/** Reads numbers one after the other and never past the end. */
export class ByteReader {
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    public at = 0,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Where the next `length` bytes begin; they are passed over. */
  private take(length: number): number {
    const start = this.at;
    if (start + length > this.bytes.length) {
      throw new BitmapFormatError('the bitmap ends too early');
    }
    this.at += length;
    return start;
  }

  u16 = (): number => this.view.getUint16(this.take(2), true);
  u32 = (): number => this.view.getUint32(this.take(4), true);
  u64 = (): bigint => this.view.getBigUint64(this.take(8), true);
  skip = (length: number): void => void this.take(length);
  slice(length: number): Uint8Array {
    const start = this.take(length);
    return this.bytes.subarray(start, start + length);
  }
  u16s = (count: number): Uint16Array => new Uint16Array(ownOrder(new Uint8Array(this.slice(2 * count)), 2).buffer);
  u32s = (count: number): Int32Array => new Int32Array(ownOrder(new Uint8Array(this.slice(4 * count)), 4).buffer);
}

/** Bytes of numbers as this machine has them, which the format has the lowest byte first; turned in place. */
function ownOrder(bytes: Uint8Array<ArrayBuffer>, width: 2 | 4): Uint8Array<ArrayBuffer> {
  if (endianness() === 'BE') {
    const turned = Buffer.from(bytes.buffer);
    void (width === 2 ? turned.swap16() : turned.swap32());
  }
  return bytes;
}

/**
 * How the body of a container is written: `array` is an ascending list, `runs` are starts and how many follow each, `ranges`
 * starts and ends.
 */
export type BodyType = 'array' | 'bits' | 'runs' | 'ranges';

/** A container as it is described before its body. */
export interface ContainerHeader<Key> {
  key: Key;
  type: BodyType;
  cardinality: number;
}

/**
 * Reads what the portable format, from any writer, holds before the bodies of its containers; `from` is at the first of them
 * then. Their keys ascend.
 *
 * @throws BitmapFormatError
 */
export function readHeaders(from: ByteReader): ContainerHeader<number>[] {
  const cookie = from.u32();
  let count: number;
  let runFlags: Uint8Array | undefined;
  if ((cookie & 0xffff) === withRuns) {
    count = (cookie >>> 16) + 1;
    runFlags = from.slice((count + 7) >> 3);
  } else if (cookie === withoutRuns) {
    count = from.u32();
    if (count > 65_536) {
      throw new BitmapFormatError('a bitmap cannot have so many containers');
    }
  } else {
    throw new BitmapFormatError(`unknown roaring cookie ${cookie}`);
  }

  let previous = -1;
  const headers = Array.from({ length: count }, (_, index): ContainerHeader<number> => {
    const key = from.u16();
    const cardinality = from.u16() + 1;
    if (key <= previous) {
      throw new BitmapFormatError(unsorted);
    }
    previous = key;
    const isRun = (((runFlags?.[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
    return { key, cardinality, type: isRun ? 'runs' : cardinality > 4096 ? 'bits' : 'array' };
  });
  if (!runFlags || count >= offsetsFrom) {
    from.skip(4 * count);
  }
  return headers;
}

/**
 * Reads the portable format, from any writer.
 *
 * @throws BitmapFormatError
 */
export function readPortable(bytes: Uint8Array): Map<number, Container> {
  const from = new ByteReader(bytes);
  return new Map(
    readHeaders(from).map(({ key, type, cardinality }) => [key, readContainer(from, type, cardinality)] as const),
  );
}

/**
 * Reads the body of a container. Runs stay runs: a few bytes of them stand for 65,536 values.
 *
 * @throws BitmapFormatError
 */
export function readContainer(from: ByteReader, type: BodyType, cardinality: number): Container {
  if (type === 'runs' || type === 'ranges') {
    return readRuns(from, type, cardinality);
  }
  if (type === 'array') {
    const list = from.u16s(cardinality);
    if (list.some((value, at) => at > 0 && value <= (list[at - 1] ?? 0))) {
      throw new BitmapFormatError('the values of a container are not ascending');
    }
    return counted(fromList(list), cardinality);
  }
  return counted(fromWords(from.u32s(2048)), cardinality);
}

function counted(container: Container | undefined, cardinality: number): Container {
  if (!container || countOf(container) !== cardinality) {
    throw new BitmapFormatError(wrongCount);
  }
  return container;
}

function readRuns(from: ByteReader, type: 'runs' | 'ranges', cardinality: number): Runs {
  const read = from.u16s(2 * from.u16());
  const merged = new Uint16Array(read.length);
  let last = -2;
  let end = -2;
  let count = 0;
  for (let at = 0; at < read.length; at += 2) {
    const start = read[at] ?? 0;
    const length = (read[at + 1] ?? 0) - (type === 'ranges' ? start : 0);
    if (start <= end || length < 0) {
      throw new BitmapFormatError('the runs of a container are not ascending');
    }
    if (start === end + 1) {
      merged[last + 1] = (merged[last + 1] ?? 0) + length + 1;
    } else {
      last += 2;
      merged[last] = start;
      merged[last + 1] = length;
    }
    end = start + length;
    count += length + 1;
    if (end > 0xffff) {
      throw new BitmapFormatError('a run leaves its container');
    }
  }
  if (count !== cardinality) {
    throw new BitmapFormatError(wrongCount);
  }
  return { runs: merged.slice(0, last + 2), count };
}

/** Where the parts of the portable format are, in bytes. */
function layoutOf(containers: readonly Container[]) {
  const hasRuns = containers.some(isRuns);
  const headersAt = hasRuns ? 4 + ((containers.length + 7) >> 3) : 8;
  const offsetsAt = headersAt + 4 * containers.length;
  const hasOffsets = !hasRuns || containers.length >= offsetsFrom;
  const bodiesAt = offsetsAt + (hasOffsets ? 4 * containers.length : 0);
  const size = containers.reduce((total, container) => total + sizeOf(container), bodiesAt);
  return { hasRuns, headersAt, offsetsAt, hasOffsets, bodiesAt, size };
}

/** How many bytes `writePortable` returns. */
export const portableSize = (containers: readonly Container[]): number => layoutOf(containers).size;

/** Writes the portable format; containers of runs stay what they are. */
export function writePortable(containers: readonly (readonly [number, Container])[]): Uint8Array {
  const { length } = containers;
  const layout = layoutOf(containers.map(([, container]) => container));
  const { hasRuns, headersAt, offsetsAt, hasOffsets } = layout;
  const buffer = Buffer.alloc(layout.size);
  let at = layout.bodiesAt;
  if (hasRuns) {
    buffer.writeUInt16LE(withRuns, 0);
    buffer.writeUInt16LE(length - 1, 2);
  } else {
    buffer.writeUInt32LE(withoutRuns, 0);
    buffer.writeUInt32LE(length, 4);
  }
  for (const [index, [key, container]] of containers.entries()) {
    buffer.writeUInt16LE(key, headersAt + 4 * index);
    buffer.writeUInt16LE(countOf(container) - 1, headersAt + 4 * index + 2);
    if (hasOffsets) {
      buffer.writeUInt32LE(at, offsetsAt + 4 * index);
    }
    if (isRuns(container)) {
      const flag = 4 + (index >> 3);
      buffer.writeUInt8(buffer.readUInt8(flag) | (1 << (index & 7)), flag);
    }
    writeBody(buffer, at, container);
    at += sizeOf(container);
  }
  return buffer;
}

/** The bytes of numbers in the order of the format. */
function bytesOf(numbers: Uint16Array | Int32Array): Uint8Array {
  const { buffer, byteOffset, byteLength } = numbers;
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  return endianness() === 'LE' ? bytes : ownOrder(new Uint8Array(bytes), numbers.BYTES_PER_ELEMENT === 2 ? 2 : 4);
}

function writeBody(buffer: Buffer, at: number, container: Container): void {
  if (isRuns(container)) {
    buffer.writeUInt16LE(container.runs.length / 2, at);
    buffer.set(bytesOf(container.runs), at + 2);
  } else {
    buffer.set(bytesOf(isList(container) ? container : container.bits), at);
  }
}
