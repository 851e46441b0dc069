/**
 * The part of a bitmap that shares its upper sixteen bits: a sorted list of the lower sixteen while that is small, one bit
 * for each value otherwise. An empty container does not exist.
 */
export type Container = Uint16Array | Words;

/** 65,536 bits and how many of them are set. */
export interface Words {
  readonly bits: Uint32Array;
  readonly count: number;
}

/** Longer lists take more space than bits. */
const longestList = 4096;
const wordCount = 2048;

export const isList = (container: Container): container is Uint16Array => container instanceof Uint16Array;
export const countOf = (container: Container): number => (isList(container) ? container.length : container.count);

/** Bytes of its list or its bits. */
export const sizeOf = (container: Container): number =>
  isList(container) ? 2 * container.length : 4 * container.bits.length;

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The bits of a container, shared with it when it is made of bits. */
export function bitsOf(container: Container): Uint32Array {
  if (!isList(container)) {
    return container.bits;
  }
  const bits = new Uint32Array(wordCount);
  for (const value of container) {
    bits[value >>> 5] = (bits[value >>> 5] ?? 0) | (1 << (value & 31));
  }
  return bits;
}

/** The container of these bits, which become its own. */
export function fromBits(bits: Uint32Array): Container | undefined {
  let count = 0;
  for (const word of bits) {
    count += bitCount(word);
  }
  if (count === 0) {
    return undefined;
  }
  if (count > longestList) {
    return { bits, count };
  }
  const list = new Uint16Array(count);
  let at = 0;
  eachBit(bits, (value) => (list[at++] = value));
  return list;
}

/** The container of an ascending list without repetitions. */
export const fromList = (list: Uint16Array): Container | undefined =>
  list.length > longestList ? fromBits(bitsOf(list)) : list.length > 0 ? list : undefined;

function eachBit(bits: Uint32Array, visit: (value: number) => void): void {
  for (let word = 0; word < wordCount; word += 1) {
    for (let rest = bits[word] ?? 0; rest !== 0; rest &= rest - 1) {
      visit((word << 5) + 31 - Math.clz32(rest & -rest));
    }
  }
}

export function eachValue(container: Container, visit: (value: number) => void): void {
  if (isList(container)) {
    container.forEach(visit);
  } else {
    eachBit(container.bits, visit);
  }
}

/** Where a value is in a list, or the complement of where it would be. */
export function search(list: Uint16Array, value: number): number {
  let low = 0;
  let high = list.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const candidate = list[middle] ?? 0;
    if (candidate === value) {
      return middle;
    }
    if (candidate < value) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return ~low;
}

export const hasValue = (container: Container, value: number): boolean =>
  isList(container) ? search(container, value) >= 0 : (((container.bits[value >>> 5] ?? 0) >>> (value & 31)) & 1) === 1;

/** The values of two containers that an operation retains. */
export interface Keeps {
  left: boolean;
  both: boolean;
  right: boolean;
}

export const intersection: Keeps = { left: false, both: true, right: false };
export const union: Keeps = { left: true, both: true, right: true };
export const difference: Keeps = { left: true, both: false, right: false };
export const symmetricDifference: Keeps = { left: true, both: false, right: true };

function mergeLists(a: Uint16Array, b: Uint16Array, keeps: Keeps): Container | undefined {
  const merged = new Uint16Array(a.length + b.length);
  let length = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i] ?? 0;
    const right = b[j] ?? 0;
    if (left < right) {
      if (keeps.left) {
        merged[length++] = left;
      }
      i += 1;
    } else if (left > right) {
      if (keeps.right) {
        merged[length++] = right;
      }
      j += 1;
    } else {
      if (keeps.both) {
        merged[length++] = left;
      }
      i += 1;
      j += 1;
    }
  }
  if (keeps.left) {
    while (i < a.length) {
      merged[length++] = a[i++] ?? 0;
    }
  }
  if (keeps.right) {
    while (j < b.length) {
      merged[length++] = b[j++] ?? 0;
    }
  }
  return fromList(merged.slice(0, length));
}

/** Combines two containers into a new one; nothing when it would be empty. */
export function combine(a: Container, b: Container, keeps: Keeps): Container | undefined {
  if (isList(a) && isList(b)) {
    return mergeLists(a, b, keeps);
  }
  const left = bitsOf(a);
  const right = bitsOf(b);
  const bits = new Uint32Array(wordCount);
  const { left: l, both, right: r } = keeps;
  for (let word = 0; word < wordCount; word += 1) {
    const x = left[word] ?? 0;
    const y = right[word] ?? 0;
    bits[word] = (l ? x & ~y : 0) | (both ? x & y : 0) | (r ? y & ~x : 0);
  }
  return fromBits(bits);
}

/** How many values two containers share. */
export function countShared(a: Container, b: Container): number {
  if (isList(a)) {
    let count = 0;
    for (const value of a) {
      if (hasValue(b, value)) {
        count += 1;
      }
    }
    return count;
  }
  if (isList(b)) {
    return countShared(b, a);
  }
  let count = 0;
  for (let word = 0; word < wordCount; word += 1) {
    count += bitCount((a.bits[word] ?? 0) & (b.bits[word] ?? 0));
  }
  return count;
}

/** The container with one value more or less; the same one when nothing changes. */
export function withValue(container: Container | undefined, value: number, present: boolean): Container | undefined {
  if (!container) {
    return present ? Uint16Array.of(value) : undefined;
  }
  if (hasValue(container, value) === present) {
    return container;
  }
  if (isList(container)) {
    const list = new Uint16Array(container.length + (present ? 1 : -1));
    const position = search(container, value);
    const at = present ? ~position : position;
    list.set(container.subarray(0, at));
    if (present) {
      list[at] = value;
    }
    list.set(container.subarray(present ? at : at + 1), present ? at + 1 : at);
    return fromList(list);
  }
  const { bits, count } = container;
  bits[value >>> 5] = (bits[value >>> 5] ?? 0) ^ (1 << (value & 31));
  return count - 1 === longestList && !present ? fromBits(bits) : { bits, count: count + (present ? 1 : -1) };
}

export const cloneContainer = (container: Container): Container =>
  isList(container) ? container.slice() : { bits: container.bits.slice(), count: container.count };
