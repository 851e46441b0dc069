/** One bit for each of 65,536 values, 32 to a word. */
export type Words = Int32Array;

const wordCount = 2048;

export const newWords = (): Words => new Int32Array(wordCount);

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function countBits(words: Words): number {
  let count = 0;
  for (let at = 0; at < wordCount; at += 1) {
    count += bitCount(words[at] ?? 0);
  }
  return count;
}

export function countSharedBits(a: Words, b: Words): number {
  let count = 0;
  for (let at = 0; at < wordCount; at += 1) {
    count += bitCount((a[at] ?? 0) & (b[at] ?? 0));
  }
  return count;
}

/** The values that a call finds, from which its result is copied: a list costs more to allocate than to copy. */
const found = new Uint16Array(wordCount * 32);

/** How many values follow one that is not there: the number of runs. */
export function countRuns(words: Words): number {
  let count = 0;
  let last = 0;
  for (const word of words) {
    count += bitCount(word & ~((word << 1) | last));
    last = word >>> 31;
  }
  return count;
}

export const hasBit = (words: Words, value: number): boolean =>
  (((words[value >>> 5] ?? 0) >>> (value & 31)) & 1) === 1;

export function flipBit(words: Words, value: number): void {
  words[value >>> 5] = (words[value >>> 5] ?? 0) ^ (1 << (value & 31));
}

/** Writes `start` plus each value, ascending, from `at` on. @returns where the next value would be written */
export function listBits(
  words: Words,
  into: Uint16Array | Uint32Array,
  { at, start }: { at: number; start: number },
): number {
  let next = at;
  for (let word = 0; word < wordCount; word += 1) {
    const base = start + (word << 5) + 31;
    for (let rest = words[word] ?? 0; rest !== 0; rest &= rest - 1) {
      into[next++] = base - Math.clz32(rest & -rest);
    }
  }
  return next;
}

/** Sets the bits of a list of values. */
export function setList(words: Words, list: Uint16Array): void {
  for (let at = 0; at < list.length; at += 1) {
    const value = list[at] ?? 0;
    words[value >>> 5] = (words[value >>> 5] ?? 0) | (1 << (value & 31));
  }
}

/** How many of a list of values have their bit set. */
export function countList(words: Words, list: Uint16Array): number {
  let count = 0;
  for (let at = 0; at < list.length; at += 1) {
    const value = list[at] ?? 0;
    count += ((words[value >>> 5] ?? 0) >>> (value & 31)) & 1;
  }
  return count;
}

/** The values of a list whose bits are set, or those whose bits are not. Without branches, which would be mispredicted. */
export function filterList(words: Words, list: Uint16Array, isSet: boolean): Uint16Array {
  const unwanted = isSet ? 0 : 1;
  let length = 0;
  for (let at = 0; at < list.length; at += 1) {
    const value = list[at] ?? 0;
    found[length] = value;
    length += (((words[value >>> 5] ?? 0) >>> (value & 31)) & 1) ^ unwanted;
  }
  return found.slice(0, length);
}

/** All zero between calls. */
const scratch = newWords();
/** Which words of `scratch` a call has used, one bit for each. */
const used = new Int32Array(wordCount / 32);

/** The values that are in an odd number of two lists (`odd`), or in any of several, ascending. */
export function joinLists(lists: readonly Uint16Array[], { odd }: { odd: boolean }): Uint16Array {
  for (const list of lists) {
    for (let at = 0; at < list.length; at += 1) {
      const value = list[at] ?? 0;
      const word = scratch[value >>> 5] ?? 0;
      const bit = 1 << (value & 31);
      scratch[value >>> 5] = odd ? word ^ bit : word | bit;
      used[value >>> 10] = (used[value >>> 10] ?? 0) | (1 << ((value >>> 5) & 31));
    }
  }
  let length = 0;
  for (let group = 0; group < used.length; group += 1) {
    for (let left = used[group] ?? 0; left !== 0; left &= left - 1) {
      const word = (group << 5) + 31 - Math.clz32(left & -left);
      for (let rest = scratch[word] ?? 0; rest !== 0; rest &= rest - 1) {
        found[length++] = (word << 5) + 31 - Math.clz32(rest & -rest);
      }
      scratch[word] = 0;
    }
    used[group] = 0;
  }
  return found.slice(0, length);
}

/** Calls back with words in which the bits of a list, and no others, are set until it returns. */
export function withList<T>(list: Uint16Array, use: (words: Words) => T): T {
  setList(scratch, list);
  try {
    return use(scratch);
  } finally {
    for (let at = 0; at < list.length; at += 1) {
      scratch[(list[at] ?? 0) >>> 5] = 0;
    }
  }
}

/** The least value; 65,536 when there is none. */
export function firstBit(words: Words): number {
  const at = words.findIndex((word) => word !== 0);
  const word = words[at] ?? 0;
  return at < 0 ? 65_536 : (at << 5) + 31 - Math.clz32(word & -word);
}

/** The greatest value; -1 when there is none. */
export function lastBit(words: Words): number {
  const at = words.findLastIndex((word) => word !== 0);
  return at < 0 ? -1 : (at << 5) + 31 - Math.clz32(words[at] ?? 0);
}

/** Calls back with each word that has values in `from` (inclusive) to `to` (exclusive), and with the bits of those. */
function eachMask(from: number, to: number, visit: (at: number, mask: number) => void): void {
  const last = (to - 1) >>> 5;
  for (let at = from >>> 5; at <= last; at += 1) {
    const head = at === from >>> 5 ? -1 << (from & 31) : -1;
    const tail = at === last ? -1 >>> (31 - ((to - 1) & 31)) : -1;
    visit(at, head & tail);
  }
}

export function setBits(words: Words, from: number, to: number): void {
  eachMask(from, to, (at, mask) => (words[at] = (words[at] ?? 0) | mask));
}

export function clearBits(words: Words, from: number, to: number): void {
  eachMask(from, to, (at, mask) => (words[at] = (words[at] ?? 0) & ~mask));
}

export function countBitsWithin(words: Words, from: number, to: number): number {
  let count = 0;
  eachMask(from, to, (at, mask) => (count += bitCount((words[at] ?? 0) & mask)));
  return count;
}

/** `target` becomes what it shares with `other`. @returns how many values that are, here and below */
export function andWords(target: Words, other: Words): number {
  let count = 0;
  for (let at = 0; at < wordCount; at += 1) {
    const word = (target[at] ?? 0) & (other[at] ?? 0);
    target[at] = word;
    count += bitCount(word);
  }
  return count;
}

export function orWords(target: Words, other: Words): number {
  let count = 0;
  for (let at = 0; at < wordCount; at += 1) {
    const word = (target[at] ?? 0) | (other[at] ?? 0);
    target[at] = word;
    count += bitCount(word);
  }
  return count;
}

export function andNotWords(target: Words, other: Words): number {
  let count = 0;
  for (let at = 0; at < wordCount; at += 1) {
    const word = (target[at] ?? 0) & ~(other[at] ?? 0);
    target[at] = word;
    count += bitCount(word);
  }
  return count;
}

export function xorWords(target: Words, other: Words): number {
  let count = 0;
  for (let at = 0; at < wordCount; at += 1) {
    const word = (target[at] ?? 0) ^ (other[at] ?? 0);
    target[at] = word;
    count += bitCount(word);
  }
  return count;
}

/** Adds every value plus `offset` (0 to 65,535): to `low` what stays below 65,536, to `high` the rest, minus 65,536. */
export function shiftWords(words: Words, offset: number, { low, high }: { low: Words; high: Words }): void {
  const step = offset >>> 5;
  const bits = offset & 31;
  const put = (at: number, word: number): void => {
    const target = at < wordCount ? low : high;
    const index = at % wordCount;
    target[index] = (target[index] ?? 0) | word;
  };
  for (let at = 0; at < wordCount; at += 1) {
    const word = words[at] ?? 0;
    if (word !== 0) {
      put(at + step, word << bits);
      if (bits > 0) {
        put(at + step + 1, word >>> (32 - bits));
      }
    }
  }
}
