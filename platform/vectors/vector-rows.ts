import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DotProducts, dotProducts, lanes } from './dot-products';
import { type SharedMemory, webAssembly } from './web-assembly';

const pageBytes = 65_536;
/** Numbers that are multiplied before others have their turn: about a millisecond. */
const numbersInTurn = 1_048_576;
const maxRowsInTurn = 16_384;

/** Vectors of one dimension in memory, each in a row of its own. */
export interface VectorRows {
  /** @returns the row, which is of no other vector until it is removed */
  add(vector: Float32Array): number;
  remove(row: number): void;
  /** The dot product of one row. */
  scoreOf(query: Float32Array, row: number): number;
  /** The dot products of all rows that there are when it begins, by row; in turns between which others are served. */
  scores(query: Float32Array): Promise<Float32Array>;
}

/**
 * The memory has the query of the moment first, then the results of a turn, then the rows. It grows and never shrinks.
 *
 * @param dimensions numbers of a vector
 * @param multiply for comparisons of one implementation with another
 */
export function createVectorRows(
  dimensions: number,
  multiply: (memory: SharedMemory) => DotProducts = dotProducts,
): VectorRows {
  const length = Math.ceil(dimensions / lanes) * lanes;
  const size = 4 * length;
  const inTurn = Math.max(1, Math.min(maxRowsInTurn, Math.floor(numbersInTurn / length)));
  const results = size;
  const begin = results + Math.ceil((4 * inTurn) / size) * size;
  const memory = new webAssembly.Memory({ initial: Math.ceil(begin / pageBytes) });
  const dots = multiply(memory);
  const free: number[] = [];
  let rows = 0;
  // A memory that grows has another buffer.
  let numbers = new Float32Array(memory.buffer);

  function makeRoom(end: number): void {
    const missing = end - memory.buffer.byteLength;
    if (missing > 0) {
      memory.grow(Math.ceil(Math.max(missing, memory.buffer.byteLength / 4) / pageBytes));
      numbers = new Float32Array(memory.buffer);
    }
  }

  /** Writes the results of some rows to where results are. */
  function compare(query: Float32Array, from: number, count: number): void {
    numbers.set(query);
    dots({ vectors: begin + from * size, query: 0, size, count, out: results });
  }

  return {
    add(vector) {
      const row = free.pop() ?? rows;
      makeRoom(begin + (row + 1) * size);
      numbers.set(vector, begin / 4 + row * length);
      rows = Math.max(rows, row + 1);
      return row;
    },

    remove: (row) => {
      free.push(row);
    },

    scoreOf(query, row) {
      compare(query, row, 1);
      return numbers[results / 4] ?? 0;
    },

    async scores(query) {
      const scores = new Float32Array(rows);
      for (let from = 0; from < scores.length; from += inTurn) {
        if (from > 0) {
          await nextTurn();
        }
        const count = Math.min(inTurn, scores.length - from);
        compare(query, from, count);
        scores.set(numbers.subarray(results / 4, results / 4 + count), from);
      }
      return scores;
    },
  };
}
