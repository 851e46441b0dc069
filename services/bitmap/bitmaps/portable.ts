import { bitsOf, type Container, countOf, fromBits, fromList, isList } from './containers';

/** Bytes that are not a bitmap. */
export class BitmapFormatError extends Error {
  override readonly name = 'BitmapFormatError';
}

const withoutRuns = 12346;
const withRuns = 12347;
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

/** Reads the body of a container: `array` (ascending list), `bits` or `runs`. */
export function readContainer(from: ByteReader, type: 'array' | 'bits' | 'runs', cardinality: number): Container {
  const container = readBody(from, type, cardinality);
  if (!container || countOf(container) !== cardinality) {
    throw new BitmapFormatError('a container does not hold as many values as it declares');
  }
  return container;
}

function readBody(from: ByteReader, type: 'array' | 'bits' | 'runs', cardinality: number): Container | undefined {
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

/**
 * Reads the portable format, from any writer.
 *
 * @throws BitmapFormatError
 */
export function readPortable(bytes: Uint8Array): Map<number, Container> {
  const from = new ByteReader(bytes);
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

  const headers = Array.from({ length: count }, () => ({ key: from.u16(), cardinality: from.u16() + 1 }));
  if (!runFlags || count >= offsetsFrom) {
    from.skip(4 * count);
  }
  const containers = new Map<number, Container>();
  let previous = -1;
  for (const [index, { key, cardinality }] of headers.entries()) {
    if (key <= previous) {
      throw new BitmapFormatError('the containers are not ascending');
    }
    previous = key;
    const isRun = (((runFlags?.[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
    containers.set(key, readContainer(from, isRun ? 'runs' : cardinality > 4096 ? 'bits' : 'array', cardinality));
  }
  return containers;
}

/** Writes the portable format, without runs. */
export function writePortable(containers: readonly (readonly [number, Container])[]): Uint8Array {
  const sizes = containers.map(([, container]) => (isList(container) ? 2 * container.length : 8192));
  const headerSize = 8 + 8 * containers.length;
  const buffer = Buffer.alloc(sizes.reduce((total, size) => total + size, headerSize));
  buffer.writeUInt32LE(withoutRuns, 0);
  buffer.writeUInt32LE(containers.length, 4);
  let at = headerSize;
  for (const [index, [key, container]] of containers.entries()) {
    buffer.writeUInt16LE(key, 8 + 4 * index);
    buffer.writeUInt16LE(countOf(container) - 1, 10 + 4 * index);
    buffer.writeUInt32LE(at, 8 + 4 * containers.length + 4 * index);
    if (isList(container)) {
      container.forEach((value, i) => buffer.writeUInt16LE(value, at + 2 * i));
    } else {
      bitsOf(container).forEach((word, i) => buffer.writeUInt32LE(word, at + 4 * i));
    }
    at += sizes[index] ?? 0;
  }
  return buffer;
}
