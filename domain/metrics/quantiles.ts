/** How many values are remembered as they are. */
export const exactValues = 10_000;
/** Neighbouring classes differ by this factor, so that the middle of one is within a percent of all its values. */
const factor = 1.02;
const logFactor = Math.log(factor);

const classOf = (value: number): number => (value <= 0 ? -Infinity : Math.ceil(Math.log(value) / logFactor));
/** The value from which both bounds of a class differ by the same share. */
const middleOf = (index: number): number => (index === -Infinity ? 0 : (2 * factor ** index) / (1 + factor));

/**
 * Percentiles and the mean of any number of values that are not negative, in bounded memory. Up to a number of values they are
 * exact: the smallest value that at least this share of all is not above. Beyond it, values are counted in classes, and a
 * percentile is within one percent of what it would be. The mean and the maximum are always exact.
 */
export class Quantiles {
  private values: number[] | undefined = [];
  private readonly classes = new Map<number, number>();
  private sum = 0;
  count = 0;
  max = 0;

  constructor(private readonly maxExact: number = exactValues) {}

  get isExact(): boolean {
    return this.values !== undefined;
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  add(value: number): void {
    this.count += 1;
    this.sum += value;
    this.max = Math.max(this.max, value);
    if (this.values && this.values.length < this.maxExact) {
      this.values.push(value);
      return;
    }
    this.values?.forEach((one) => this.classify(one));
    this.values = undefined;
    this.classify(value);
  }

  /** @param share between 0 and 1; 0 without values */
  at(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.count));
    if (this.values) {
      this.values.sort((one, other) => one - other);
      return this.values[rank - 1] ?? 0;
    }
    let seen = 0;
    for (const [index, count] of [...this.classes].sort(([one], [other]) => one - other)) {
      seen += count;
      if (seen >= rank) {
        return Math.min(middleOf(index), this.max);
      }
    }
    return this.max;
  }

  private classify(value: number): void {
    const index = classOf(value);
    this.classes.set(index, (this.classes.get(index) ?? 0) + 1);
  }
}
