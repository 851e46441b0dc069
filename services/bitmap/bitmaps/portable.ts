import { bitsOf, type Container, countOf, fromBits, fromList, isList, sizeOf as containerSize } from './containers';

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
}

/** Reads the body of a container; runs become a list or bits. */
export function readContainer(from: ByteReader, type: BodyType, cardinality: number): Container {
  const container = readBody(from, type, cardinality);
  if (!container || countOf(container) !== cardinality) {
    throw new BitmapFormatError(wrongCount);
  }
  return container;
}

function readBody(from: ByteReader, type: BodyType, cardinality: number): Container | undefined {
  if (type === 'bits') {
    return fromBits(Uint32Array.from({ length: 2048 }, from.u32));
  }
  if (type === 'array') {
    const list = Uint16Array.from({ length: cardinality }, from.u16);
    if (list.some((value, at) => at > 0 && value <= (list[at - 1] ?? 0))) {
      throw new BitmapFormatError('the values of a container are not ascending');
    }
    return fromList(list);
  }
  const bits = new Uint32Array(2048);
  const runs = from.u16();
  for (let run = 0; run < runs; run += 1) {
    const start = from.u16();
    const end = start + from.u16();
    if (end > 0xffff) {
      throw new BitmapFormatError('a run leaves its container');
    }
    for (let value = start; value <= end; value += 1) {
      bits[value >>> 5] = (bits[value >>> 5] ?? 0) | (1 << (value & 31));
    }
  }
  return fromBits(bits);
}

/** How the body of a container is written: `array` is an ascending list. */
export type BodyType = 'array' | 'bits' | 'runs';

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

/** Runs of neighbouring values: the first value and how many follow it, for each; ascending, and with a gap between them. */
export interface Runs {
  readonly runs: Uint16Array;
  readonly count: number;
}

const isRuns = (container: Container | Runs): container is Runs => 'runs' in container;

/**
 * Reads the body of a container of runs without expanding it.
 *
 * @throws BitmapFormatError
 */
export function readRuns(from: ByteReader, cardinality: number): Runs {
  const merged: number[] = [];
  let end = -2;
  let count = 0;
  for (let left = from.u16(); left > 0; left -= 1) {
    const start = from.u16();
    const length = from.u16();
    if (start <= end) {
      throw new BitmapFormatError('the runs of a container are not ascending');
    }
    if (start === end + 1) {
      merged.push((merged.pop() ?? 0) + length + 1);
    } else {
      merged.push(start, length);
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
  return { runs: Uint16Array.from(merged), count };
}

const sizeOf = (container: Container | Runs): number =>
  isRuns(container) ? 2 + 2 * container.runs.length : containerSize(container);

/** Writes the portable format; containers of runs stay what they are. */
export function writePortable(containers: readonly (readonly [number, Container | Runs])[]): Uint8Array {
  const { length } = containers;
  const hasRuns = containers.some(([, container]) => isRuns(container));
  const flagBytes = hasRuns ? (length + 7) >> 3 : 0;
  const headersAt = hasRuns ? 4 + flagBytes : 8;
  const offsetsAt = headersAt + 4 * length;
  let at = !hasRuns || length >= offsetsFrom ? offsetsAt + 4 * length : offsetsAt;
  const hasOffsets = at > offsetsAt;
  const buffer = Buffer.alloc(containers.reduce((total, [, container]) => total + sizeOf(container), at));
  if (hasRuns) {
    buffer.writeUInt16LE(withRuns, 0);
    buffer.writeUInt16LE(length - 1, 2);
  } else {
    buffer.writeUInt32LE(withoutRuns, 0);
    buffer.writeUInt32LE(length, 4);
  }
  for (const [index, [key, container]] of containers.entries()) {
    buffer.writeUInt16LE(key, headersAt + 4 * index);
    buffer.writeUInt16LE((isRuns(container) ? container.count : countOf(container)) - 1, headersAt + 4 * index + 2);
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

function writeBody(buffer: Buffer, at: number, container: Container | Runs): void {
  if (isRuns(container)) {
    buffer.writeUInt16LE(container.runs.length / 2, at);
    container.runs.forEach((value, i) => buffer.writeUInt16LE(value, at + 2 + 2 * i));
  } else if (isList(container)) {
    container.forEach((value, i) => buffer.writeUInt16LE(value, at + 2 * i));
  } else {
    bitsOf(container).forEach((word, i) => buffer.writeUInt32LE(word, at + 4 * i));
  }
}
