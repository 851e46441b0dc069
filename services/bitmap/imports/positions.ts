import { type Container, eachValue } from '../bitmaps/containers';
import { BitmapFormatError, ByteReader, readContainer, readPortable } from '../bitmaps/portable';
import { shardWidth } from '../engine/segments';
import { type Int, toInt } from '../int';

/** The first two bytes of the 64-bit variant that some clients write. */
const wideMagic = 12348;
const containerTypes = ['array', 'bits', 'runs'] as const;

/** Shards from this one on have columns that a number does not hold exactly. */
export const maxShards = 2 ** 33;

/** Containers of a row of one shard: it has so many. */
const containersPerRow = shardWidth / 65_536;

/**
 * Reads a bitmap of positions, `row * 2^20 + column within the shard`, in the portable format or its 64-bit variant.
 *
 * @param shard at most `mostShards`
 * @returns the columns by row; each list ascending
 * @throws BitmapFormatError
 */
export function readPositions(bytes: Uint8Array, shard: number): Map<Int, Int[]> {
  const rows = new Map<Int, Int[]>();
  const isWide = bytes.length >= 2 && (bytes[0] ?? 0) + 256 * (bytes[1] ?? 0) === wideMagic;
  for (const [key, container] of isWide ? readWide(bytes) : readPortable(bytes)) {
    const number = BigInt(key);
    const row = toInt(number / BigInt(containersPerRow));
    const start = shard * shardWidth + Number(number % BigInt(containersPerRow)) * 65_536;
    let columns = rows.get(row);
    if (!columns) {
      rows.set(row, (columns = []));
    }
    const list = columns;
    eachValue(container, (value) => list.push(start + value));
  }
  return rows;
}

function* readWide(bytes: Uint8Array): Generator<[Int, Container]> {
  const from = new ByteReader(bytes);
  from.skip(4);
  const count = from.u32();
  if (count * 12 > bytes.length) {
    throw new BitmapFormatError('the bitmap ends too early');
  }
  const headers = Array.from({ length: count }, () => ({
    key: toInt(from.u64()),
    type: from.u16(),
    cardinality: from.u16() + 1,
  }));
  const offsets = headers.map(() => from.u32());
  for (const [at, { key, type, cardinality }] of headers.entries()) {
    const kind = containerTypes[type - 1];
    if (!kind) {
      throw new BitmapFormatError(`unknown container type ${type}`);
    }
    yield [key, readContainer(new ByteReader(bytes, offsets[at]), kind, cardinality)];
  }
}
