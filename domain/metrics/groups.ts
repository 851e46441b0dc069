/** How many names without sums are counted. */
const maxCounted = 10_000;

/** Sums by name, of a bounded number of names: callers choose the names that they report. */
export class Groups<T> {
  private readonly groups = new Map<string, T>();
  private readonly others = new Set<string>();

  constructor(
    private readonly make: () => T,
    private readonly max: number,
  ) {}

  /** The sums of a name; `undefined` when there are too many names. */
  of(name: string): T | undefined {
    const existing = this.groups.get(name);
    if (existing !== undefined) {
      return existing;
    }
    if (this.groups.size >= this.max) {
      if (this.others.size < maxCounted) {
        this.others.add(name);
      }
      return undefined;
    }
    const made = this.make();
    this.groups.set(name, made);
    return made;
  }

  get(name: string): T | undefined {
    return this.groups.get(name);
  }

  /** How many names have no sums; at most 10,000 are counted. */
  get omitted(): number {
    return this.others.size;
  }

  /** Those with the greatest weight first, then by name. */
  sorted(weight: (group: T) => number): [string, T][] {
    return [...this.groups].sort(([a, one], [b, other]) => weight(other) - weight(one) || (a < b ? -1 : 1));
  }
}
