/**
 * Plain bitmaps in memory that threads share: how many containers, then for each its key, its kind, how many values it has and
 * how many numbers its body, four words of 32 bits; then the bodies, each from a multiple of four bytes on. All as this machine has
 * numbers, so that a thread reads them where they are.
 */
import { type Container, countOf, isBits, isList, isRuns } from './containers';

type Entries = Iterable<readonly [key: number, container: Container]>;

const kinds = { list: 0, bits: 1, runs: 2 } as const;
const wordsOfHeader = 4;

const kindOf = (container: Container): number =>
  isList(container) ? kinds.list : isBits(container) ? kinds.bits : kinds.runs;

const bodyOf = (container: Container): Uint16Array | Int32Array =>
  isBits(container) ? container.bits : isRuns(container) ? container.runs : container;

const aligned = (size: number): number => (size + 3) & ~3;

/** In bytes. */
export function plainFrozenSize(entries: Entries): number {
  let size = 4;
  for (const [, container] of entries) {
    size += 4 * wordsOfHeader + aligned(bodyOf(container).byteLength);
  }
  return size;
}

/** @param into of `plainFrozenSize` bytes, beginning at a multiple of four of its buffer */
export function freezePlain(entries: Entries, into: Uint8Array): void {
  const { buffer, byteOffset } = into;
  const all = [...entries];
  const header = new Uint32Array(buffer, byteOffset, 1 + wordsOfHeader * all.length);
  header[0] = all.length;
  let at = header.byteLength;
  for (const [index, [key, container]] of all.entries()) {
    const body = bodyOf(container);
    header.set([key, kindOf(container), countOf(container), body.length], 1 + wordsOfHeader * index);
    into.set(new Uint8Array(body.buffer, body.byteOffset, body.byteLength), at);
    at += aligned(body.byteLength);
  }
}

/** The containers of what was frozen, in place. */
export function* viewPlain({
  buffer,
  byteOffset,
}: Uint8Array): Generator<readonly [key: number, container: Container]> {
  const [count = 0] = new Uint32Array(buffer, byteOffset, 1);
  const header = new Uint32Array(buffer, byteOffset, 1 + wordsOfHeader * count);
  let at = byteOffset + header.byteLength;
  for (let start = 1; start < header.length; start += wordsOfHeader) {
    const [key = 0, kind, values = 0, length = 0] = header.subarray(start, start + wordsOfHeader);
    const body = kind === kinds.bits ? new Int32Array(buffer, at, length) : new Uint16Array(buffer, at, length);
    at += aligned(body.byteLength);
    if (body instanceof Int32Array) {
      yield [key, { bits: body, count: values, shared: true }];
    } else {
      yield [key, kind === kinds.runs ? { runs: body, count: values } : body];
    }
  }
}
