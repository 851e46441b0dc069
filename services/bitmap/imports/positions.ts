import { type Container, sizeOf } from '../bitmaps/containers';
import {
  BitmapFormatError,
  ByteReader,
  type ContainerHeader,
  readContainer,
  readHeaders,
  unsorted,
  writePortable,
} from '../bitmaps/portable';
import { containerWidth, pageWidth } from '../engine/column-list';
import { ColumnSet } from '../engine/column-set';
import { shardWidth } from '../engine/segments';
import { type Int, toInt } from '../int';
import type { ImportBudget } from './budget';

/** The first two bytes of the 64-bit variant that some clients write. */
const wideMagic = 12348;
const containerTypes = ['array', 'bits', 'ranges'] as const;

/** Shards from this one on have columns that a number does not hold exactly. */
export const maxShards = 2 ** 33;

/** Containers of a row of one shard: it has so many. */
const containersPerRow = shardWidth / containerWidth;
const shardsPerPage = pageWidth / shardWidth;

/** What each container of a row takes beside its columns, in bytes. */
const containerBytes = 256;

/** The columns of one row while they are read: containers of its page, ascending. */
type RowContainers = [key: number, container: Container][];

/**
 * Reads a bitmap of positions, `row * 2^20 + column within the shard`, in the portable format or its 64-bit variant. Runs
 * are never expanded: a few bytes of them stand for a whole shard.
 *
 * @param shard below `maxShards`
 * @returns the columns by row
 * @throws BitmapFormatError, ImportError 413 for too many rows, and for what is too large once it is expanded
 */
export function readPositions(
  bytes: Uint8Array,
  { shard, budget }: { shard: number; budget: ImportBudget },
): Map<Int, ColumnSet> {
  const isWide = bytes.length >= 2 && (bytes[0] ?? 0) + 256 * (bytes[1] ?? 0) === wideMagic;
  const firstKey = (shard % shardsPerPage) * containersPerRow;
  const rows = new Map<Int, RowContainers>();
  for (const [key, container, size] of isWide ? readWide(bytes) : readNarrow(bytes)) {
    const number = BigInt(key);
    const row = toInt(number / BigInt(containersPerRow));
    let containers = rows.get(row);
    if (!containers) {
      budget.row();
      rows.set(row, (containers = []));
    }
    budget.expanded(size);
    containers.push([firstKey + Number(number % BigInt(containersPerRow)), container]);
  }
  const page = Math.floor(shard / shardsPerPage);
  return new Map([...rows].map(([row, containers]) => [row, ColumnSet.ofPage(page, writePortable(containers))]));
}

type Read = readonly [key: Int, container: Container, expandedSize: number];

/** Its runs may take more than its columns as bits do, and containers may name the same bytes as theirs. */
function readOne<Key extends Int>(from: ByteReader, { key, type, cardinality }: ContainerHeader<Key>): Read {
  const container = readContainer(from, type, cardinality);
  const expanded = Math.min(2 * cardinality, containerWidth / 8);
  return [key, container, containerBytes + Math.max(expanded, sizeOf(container))];
}

function* readNarrow(bytes: Uint8Array): Generator<Read> {
  const from = new ByteReader(bytes);
  for (const header of readHeaders(from)) {
    yield readOne(from, header);
  }
}

function* readWide(bytes: Uint8Array): Generator<Read> {
  const from = new ByteReader(bytes);
  from.skip(4);
  const count = from.u32();
  if (count * 16 > bytes.length) {
    throw new BitmapFormatError('the bitmap ends too early');
  }
  const offsets = new ByteReader(bytes, from.at + 12 * count);
  let previous = -1n;
  for (let left = count; left > 0; left -= 1) {
    const key = from.u64();
    const type = containerTypes[from.u16() - 1];
    const cardinality = from.u16() + 1;
    if (!type) {
      throw new BitmapFormatError('unknown container type');
    }
    if (key <= previous) {
      throw new BitmapFormatError(unsorted);
    }
    previous = key;
    yield readOne(new ByteReader(bytes, offsets.u32()), { key: toInt(key), type, cardinality });
  }
}
