import type { ColumnSet } from './column-set';

/** An integer field's columns that have a value, those with a negative one, and one set for each digit of the magnitude. */
export interface ValueSource {
  readonly columns: ColumnSet;
  readonly negative: ColumnSet;
  readonly slices: readonly ColumnSet[];
}

/** So many values are worked on before others get a turn. */
const perPiece = 65_536;

/**
 * All values of an integer field, ascending. It takes about a second for a few million: a piece at a time, with a `yield`
 * between them. The source must not change meanwhile.
 */
export function* sortedValues(source: ValueSource): Generator<void, Float64Array> {
  const values = yield* valuesOf(source);
  for (let from = 0; from < values.length; from += perPiece) {
    values.subarray(from, from + perPiece).sort();
    yield;
  }
  return yield* merged(values);
}

/** All values, in the order of their columns. */
function* valuesOf({ columns, negative, slices }: ValueSource): Generator<void, Float64Array> {
  const values = new Float64Array(columns.size);
  let start = 0;
  for (const [page, offsets] of columns.offsets()) {
    const own = values.subarray(start, start + offsets.length);
    for (const [bit, slice] of slices.entries()) {
      const power = 2 ** bit;
      const add = (at: number): void => void (own[at] = (own[at] ?? 0) + power);
      yield* eachIndex(offsets, slice.offsetsOfPage(page), add);
    }
    // 0 has no sign here.
    yield* eachIndex(offsets, negative.offsetsOfPage(page), (at) => (own[at] = 0 - (own[at] ?? 0)));
    start += offsets.length;
  }
  return values;
}

/** Where each of `some` is in `all`; both ascending, and `all` has them all. */
function* eachIndex(all: Uint32Array, some: Uint32Array, visit: (index: number) => void): Generator<void, void> {
  let at = 0;
  for (let from = 0; from < some.length; from += perPiece) {
    const end = Math.min(from + perPiece, some.length);
    for (let next = from; next < end; next += 1) {
      const offset = some[next] ?? 0;
      while ((all[at] ?? offset) < offset) {
        at += 1;
      }
      visit(at);
    }
    yield;
  }
}

/** Merges stretches of `perPiece` that are each ascending. */
function* merged(values: Float64Array): Generator<void, Float64Array> {
  let from = values;
  let to = values.length > perPiece ? new Float64Array(values.length) : values;
  for (let width = perPiece; width < values.length; width *= 2) {
    for (let start = 0; start < values.length; start += 2 * width) {
      yield* mergeTwo(from, to, {
        start,
        middle: Math.min(start + width, values.length),
        end: Math.min(start + 2 * width, values.length),
      });
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges `from[start…middle]` and `from[middle…end]` into the same range of `to`. */
function* mergeTwo(
  from: Float64Array,
  to: Float64Array,
  { start, middle, end }: { start: number; middle: number; end: number },
): Generator<void, void> {
  let left = start;
  let right = middle;
  for (let piece = start; piece < end; piece += perPiece) {
    const pieceEnd = Math.min(piece + perPiece, end);
    for (let at = piece; at < pieceEnd; at += 1) {
      const isLeft = left < middle && (right >= end || (from[left] ?? 0) <= (from[right] ?? 0));
      to[at] = (isLeft ? from[left++] : from[right++]) ?? 0;
    }
    yield;
  }
}
