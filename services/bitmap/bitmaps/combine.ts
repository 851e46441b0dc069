import {
  addTo,
  type Container,
  copyOfWords,
  countWithin,
  eachRun,
  fromList,
  fromWords,
  isBits,
  isFull,
  isList,
  isRuns,
  type List,
  longestList,
  share,
  withRuns,
  wordsOf,
} from './containers';
import * as words from './words';

/** Whether these are lists whose values, together, are a list again. */
const areFew = (all: readonly Container[]): all is readonly List[] => {
  let count = 0;
  for (const container of all) {
    if (!isList(container)) {
      return false;
    }
    count += container.length;
  }
  return count <= longestList;
};

/** The values of a list that a container has, or those that it has not. */
function filtered(list: List, container: Container, isThere: boolean): Container | undefined {
  const filter = (bits: words.Words): List => words.filterList(bits, list, isThere);
  return fromList(isList(container) ? words.withList(container, filter) : filter(wordsOf(container)));
}

/** A container of words that were made for it, as runs where both operands were. */
function fromNew(
  bits: words.Words,
  a: Container,
  { b, count }: { b: Container; count?: number },
): Container | undefined {
  const made = fromWords(bits, count);
  return made && isRuns(a) && isRuns(b) ? withRuns(made) : made;
}

/** The values of both. Operands are left alone, here and below. */
export function and(a: Container, b: Container): Container | undefined {
  if (isFull(a)) {
    return share(b);
  }
  if (isFull(b)) {
    return share(a);
  }
  if (isList(a)) {
    return isList(b) && b.length > a.length ? filtered(b, a, true) : filtered(a, b, true);
  }
  if (isList(b)) {
    return filtered(b, a, true);
  }
  const bits = copyOfWords(a);
  return fromNew(bits, a, { b, count: words.andWords(bits, wordsOf(b)) });
}

/** The values of either. */
export function or(a: Container, b: Container): Container | undefined {
  if (isFull(a) || isFull(b)) {
    return share(isFull(a) ? a : b);
  }
  const both = [a, b];
  if (areFew(both)) {
    return fromList(words.joinLists(both, { odd: false }));
  }
  if (isBits(b) && !isBits(a)) {
    return or(b, a);
  }
  const bits = copyOfWords(a);
  if (isBits(b)) {
    return fromWords(bits, words.orWords(bits, b.bits));
  }
  addTo(bits, b);
  return fromNew(bits, a, { b });
}

/** The values of any of several. */
export function orMany(all: readonly Container[]): Container | undefined {
  const [first, second] = all;
  if (!first || !second) {
    return first && share(first);
  }
  if (areFew(all)) {
    return fromList(words.joinLists(all, { odd: false }));
  }
  if (all.length === 2) {
    return or(first, second);
  }
  const bits = words.newWords();
  for (const container of all) {
    addTo(bits, container);
  }
  return fromWords(bits);
}

/** The values of the first alone. */
export function andNot(a: Container, b: Container): Container | undefined {
  if (isFull(b)) {
    return undefined;
  }
  if (isList(a)) {
    return filtered(a, b, false);
  }
  const bits = copyOfWords(a);
  if (isRuns(b)) {
    eachRun(b, (from, to) => words.clearBits(bits, from, to));
    return fromNew(bits, a, { b });
  }
  return fromWords(bits, words.andNotWords(bits, wordsOf(b)));
}

/** The values of exactly one. */
export function xor(a: Container, b: Container): Container | undefined {
  const both = [a, b];
  if (areFew(both)) {
    return fromList(words.joinLists(both, { odd: true }));
  }
  const bits = copyOfWords(a);
  return fromNew(bits, a, { b, count: words.xorWords(bits, wordsOf(b)) });
}

/** How many values two containers share. */
export function countShared(a: Container, b: Container): number {
  if (isList(a)) {
    if (isList(b)) {
      const [short, long] = a.length < b.length ? [a, b] : [b, a];
      return words.withList(short, (bits) => words.countList(bits, long));
    }
    return isBits(b) ? words.countList(b.bits, a) : countShared(b, a);
  }
  if (isRuns(a)) {
    let count = 0;
    eachRun(a, (from, to) => (count += countWithin(b, from, to)));
    return count;
  }
  return isBits(b) ? words.countSharedBits(a.bits, b.bits) : countShared(b, a);
}

/** Every value plus `offset` (1 to 65,535), in this container and the one above it. */
export function shifted(container: Container, offset: number): { low?: Container; high?: Container } {
  const [low, high] = [words.newWords(), words.newWords()];
  words.shiftWords(wordsOf(container), offset, { low, high });
  const [below, above] = [low, high].map((bits) => fromWords(bits));
  return { ...(below && { low: below }), ...(above && { high: above }) };
}
