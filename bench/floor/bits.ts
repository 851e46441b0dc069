import { percentile } from '../latency';

/** Wider ones would take a gigabyte for a hundred rows. */
const mostColumns = 10_000_000;
const repetitions = 20;

const ones = (word: number): number => {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};

/**
 * The same data as plain arrays in this process: a bit for each column of a row, a number for each column with a value. What a loop
 * over them takes is what is left of a query without compression, a log, a text to parse or a request.
 */
export class BareBits {
  private readonly rows: Uint32Array[];
  private readonly values: Uint32Array;

  private constructor(rowCount: number, { columns, values }: { columns: number; values: number }) {
    this.rows = Array.from({ length: rowCount }, () => new Uint32Array(Math.ceil(columns / 32)));
    this.values = new Uint32Array(values);
  }

  /** `undefined` for more columns than this is for. */
  static for(rowCount: number, size: { columns: number; values: number }): BareBits | undefined {
    return size.columns > mostColumns ? undefined : new BareBits(rowCount, size);
  }

  set(row: number, column: number): void {
    const words = this.rows[row] ?? new Uint32Array();
    words[column >>> 5] = (words[column >>> 5] ?? 0) | (1 << (column & 31));
  }

  setValue(at: number, value: number): void {
    this.values[at] = value;
  }

  /** What queries of these names take as loops, in milliseconds at the median. */
  measure(random: () => number): Record<string, number> {
    const row = (): Uint32Array => this.rows[Math.floor(random() * this.rows.length)] ?? new Uint32Array();
    const bound = (): number => Math.floor(random() * 1_000_000);
    const loops: Record<string, () => number> = {
      'Count(Row)': () => countOf([row()], and),
      'Count(Intersect of 2)': () => countOf([row(), row()], and),
      'Count(Union of 5)': () => countOf([row(), row(), row(), row(), row()], or),
      'TopN(n=10)': () => this.top((words) => countOf([words], and)),
      'TopN with a row': () => {
        const other = row();
        return this.top((words) => countOf([words, other], and));
      },
      'Count(Row(v > n))': () => this.over(bound()),
      Sum: () => this.values.reduce((sum, value) => sum + value, 0),
      'Min and Max': () => this.values.reduce((most, value) => Math.max(most, value), 0),
    };
    return Object.fromEntries(Object.entries(loops).map(([name, loop]) => [name, medianOf(loop)]));
  }

  private top(count: (words: Uint32Array) => number): number {
    const counts = this.rows.map(count).sort((a, b) => b - a);
    return counts[9] ?? 0;
  }

  private over(bound: number): number {
    let count = 0;
    for (const value of this.values) {
      count += value > bound ? 1 : 0;
    }
    return count;
  }
}

type Combine = (one: number, other: number) => number;
const and: Combine = (one, other) => one & other;
const or: Combine = (one, other) => one | other;

function countOf([first = new Uint32Array(), ...others]: Uint32Array[], combine: Combine): number {
  let count = 0;
  for (let at = 0; at < first.length; at += 1) {
    let word = first[at] ?? 0;
    for (const other of others) {
      word = combine(word, other[at] ?? 0);
    }
    count += ones(word);
  }
  return count;
}

function medianOf(loop: () => number): number {
  const samples = Array.from({ length: repetitions }, () => {
    const { user } = process.cpuUsage();
    loop();
    return (process.cpuUsage().user - user) / 1000;
  });
  return Number(percentile(samples, 0.5).toFixed(3));
}
