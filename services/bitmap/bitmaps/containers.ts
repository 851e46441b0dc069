import * as words from './words';

/**
 * The part of a bitmap that shares its upper sixteen bits: a sorted list of the lower sixteen while that is small, one bit for
 * each value otherwise, or runs of neighbouring values. An empty container does not exist. Lists and runs never change.
 */
export type Container = List | Bits | Runs;

/** Ascending, without repetitions. */
export type List = Uint16Array;

/** 65,536 bits and how many of them are set. */
export interface Bits {
  readonly bits: words.Words;
  count: number;
  /** Whether several bitmaps have it, or other threads: it is copied before it changes. */
  shared: boolean;
}

/** Runs of neighbouring values: the first value and how many follow it, for each; ascending, and with a gap between them. */
export interface Runs {
  readonly runs: Uint16Array;
  readonly count: number;
}

/** As many values a container may have. */
export const width = 65_536;
/** Longer lists take more space than bits. */
export const longestList = 4096;
const bitsSize = 8192;

export const isList = (container: Container): container is List => container instanceof Uint16Array;
export const isRuns = (container: Container): container is Runs => 'runs' in container;
export const isBits = (container: Container): container is Bits => 'bits' in container;
export const isFull = (container: Container): boolean => !isList(container) && container.count === width;

export const countOf = (container: Container): number => (isList(container) ? container.length : container.count);

/** Bytes of its body in the portable format. */
export function sizeOf(container: Container): number {
  if (isRuns(container)) {
    return 2 + 2 * container.runs.length;
  }
  return isList(container) ? 2 * container.length : bitsSize;
}

/** The same container for another bitmap: whichever of them changes it first copies it. */
export function share(container: Container): Container {
  if (isBits(container)) {
    container.shared = true;
  }
  return container;
}

export const runsOf = (from: number, to: number): Runs => ({
  runs: Uint16Array.of(from, to - from - 1),
  count: to - from,
});

/** Calls back with each run, its end being exclusive. */
export function eachRun({ runs }: Runs, visit: (from: number, to: number) => void): void {
  for (let at = 0; at < runs.length; at += 2) {
    const from = runs[at] ?? 0;
    visit(from, from + (runs[at + 1] ?? 0) + 1);
  }
}

/** New words with the values of a container. */
export function copyOfWords(container: Container): words.Words {
  if (isBits(container)) {
    return container.bits.slice();
  }
  const copy = words.newWords();
  addTo(copy, container);
  return copy;
}

/** Its words, which are its own when it is made of bits: not to be changed. */
export const wordsOf = (container: Container): words.Words =>
  isBits(container) ? container.bits : copyOfWords(container);

/** Sets the bits of a container's values. */
export function addTo(target: words.Words, container: Container): void {
  if (isRuns(container)) {
    eachRun(container, (from, to) => words.setBits(target, from, to));
  } else if (isList(container)) {
    words.setList(target, container);
  } else {
    words.orWords(target, container.bits);
  }
}

/** The container of these bits, which become its own. */
export function fromWords(bits: words.Words, count = words.countBits(bits)): Container | undefined {
  if (count === 0) {
    return undefined;
  }
  if (count > longestList) {
    return { bits, count, shared: false };
  }
  const list = new Uint16Array(count);
  words.listBits(bits, list, { at: 0, start: 0 });
  return list;
}

/** The container of an ascending list without repetitions. */
export function fromList(list: List): Container | undefined {
  if (list.length <= longestList) {
    return list.length > 0 ? list : undefined;
  }
  return fromWords(copyOfWords(list), list.length);
}

/** The values of runs as a list or bits, whichever is smaller. */
const expanded = (container: Container): Container =>
  isRuns(container) ? (fromWords(copyOfWords(container), container.count) ?? container) : container;

/** Writes `start` plus each value, ascending, from `at` on. @returns where the next value would be written */
export function listInto(
  container: Container,
  into: Uint32Array,
  { at, start }: { at: number; start: number },
): number {
  if (isBits(container)) {
    return words.listBits(container.bits, into, { at, start });
  }
  let next = at;
  if (isRuns(container)) {
    eachRun(container, (from, to) => {
      for (let value = from; value < to; value += 1) {
        into[next++] = start + value;
      }
    });
  } else {
    for (let index = 0; index < container.length; index += 1) {
      into[next++] = start + (container[index] ?? 0);
    }
  }
  return next;
}

/** How many of an ascending list are less than `value`. */
export function lowerBound(list: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] ?? 0) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Where the last run begins that begins at `value` or before it, in runs; below 0 when there is none. */
function runBefore(runs: Uint16Array, value: number): number {
  let low = 0;
  let high = runs.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((runs[2 * middle] ?? 0) <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 2 * (low - 1);
}

export function hasValue(container: Container, value: number): boolean {
  if (isList(container)) {
    return container[lowerBound(container, value)] === value;
  }
  if (isRuns(container)) {
    const at = runBefore(container.runs, value);
    return at >= 0 && value - (container.runs[at] ?? 0) <= (container.runs[at + 1] ?? 0);
  }
  return words.hasBit(container.bits, value);
}

/** How many values are in `from` (inclusive) to `to` (exclusive). */
export function countWithin(container: Container, from: number, to: number): number {
  if (from >= to) {
    return 0;
  }
  if (isList(container)) {
    return lowerBound(container, to) - lowerBound(container, from);
  }
  if (isRuns(container)) {
    let count = 0;
    eachRun(container, (start, end) => (count += Math.max(Math.min(end, to) - Math.max(start, from), 0)));
    return count;
  }
  return words.countBitsWithin(container.bits, from, to);
}

export const minimumOf = (container: Container): number =>
  isList(container)
    ? (container[0] ?? 0)
    : isRuns(container)
      ? (container.runs[0] ?? 0)
      : words.firstBit(container.bits);

export function maximumOf(container: Container): number {
  if (isList(container)) {
    return container.at(-1) ?? 0;
  }
  return isRuns(container)
    ? (container.runs.at(-2) ?? 0) + (container.runs.at(-1) ?? 0)
    : words.lastBit(container.bits);
}

/** The container with a value that it has not, or without one that it has. */
export function flip(container: Container, value: number): Container | undefined {
  if (isRuns(container)) {
    return flip(expanded(container), value);
  }
  if (isList(container)) {
    return flipInList(container, value);
  }
  const changed = container.shared ? { ...container, bits: container.bits.slice(), shared: false } : container;
  changed.count += words.hasBit(changed.bits, value) ? -1 : 1;
  words.flipBit(changed.bits, value);
  return changed.count > longestList ? changed : fromWords(changed.bits, changed.count);
}

function flipInList(list: List, value: number): Container | undefined {
  const at = lowerBound(list, value);
  if (list[at] === value) {
    const shorter = list.slice(0, -1);
    for (let index = at; index < shorter.length; index += 1) {
      shorter[index] = list[index + 1] ?? 0;
    }
    return shorter.length > 0 ? shorter : undefined;
  }
  const longer = new Uint16Array(list.length + 1);
  longer.set(list);
  longer.copyWithin(at + 1, at, list.length);
  longer[at] = value;
  return fromList(longer);
}

function runCountOf(container: Container): number {
  if (isRuns(container)) {
    return container.runs.length / 2;
  }
  if (!isList(container)) {
    return words.countRuns(container.bits);
  }
  let count = 0;
  let last = -2;
  for (const value of container) {
    count += value === last + 1 ? 0 : 1;
    last = value;
  }
  return count;
}

/** As runs where those take less space. */
export function withRuns(container: Container): Container {
  const count = runCountOf(container);
  if (isRuns(container) || 2 + 4 * count >= sizeOf(container)) {
    return container;
  }
  const runs = new Uint16Array(2 * count);
  const values = new Uint32Array(countOf(container));
  listInto(container, values, { at: 0, start: 0 });
  let at = -2;
  let last = -2;
  for (const value of values) {
    if (value === last + 1) {
      runs[at + 1] = (runs[at + 1] ?? 0) + 1;
    } else {
      at += 2;
      runs[at] = value;
    }
    last = value;
  }
  return { runs, count: countOf(container) };
}
