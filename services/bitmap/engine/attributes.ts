import type { Int } from '../int';

/** A number that was written as a fraction: distinct from integers, because binary responses encode them differently. */
export interface Fraction {
  readonly fraction: number;
}

export type AttributeValue = string | boolean | Int | Fraction;

/** What a write of attributes sets; `null` takes one away. */
export type AttributePatch = Readonly<Record<string, AttributeValue | null>>;

/** The attributes of one row or column, in the order of their names. */
export type Attributes = readonly (readonly [name: string, value: AttributeValue])[];

export const isFraction = (value: unknown): value is Fraction =>
  typeof value === 'object' && value !== null && 'fraction' in value;

const same = (a: AttributeValue, b: AttributeValue): boolean =>
  a === b || (isFraction(a) && isFraction(b) && a.fraction === b.fraction);

/** Attributes of rows or columns, by id. */
export class AttributeTable {
  private readonly byId = new Map<Int, Map<string, AttributeValue>>();

  of(id: Int): Attributes {
    const values = this.byId.get(id);
    return values ? [...values].sort(([a], [b]) => (a < b ? -1 : 1)) : [];
  }

  value(id: Int, name: string): AttributeValue | undefined {
    return this.byId.get(id)?.get(name);
  }

  /** Ids that have attributes, in no order. */
  ids(): Int[] {
    return [...this.byId.keys()];
  }

  /** Merges; whether anything is different now. */
  merge(id: Int, patch: AttributePatch): boolean {
    const values = this.byId.get(id) ?? new Map<string, AttributeValue>();
    let changed = false;
    for (const [name, value] of Object.entries(patch)) {
      const before = values.get(name);
      if (value === null) {
        changed = values.delete(name) || changed;
      } else if (before === undefined || !same(before, value)) {
        values.set(name, value);
        changed = true;
      }
    }
    if (values.size > 0) {
      this.byId.set(id, values);
    } else {
      this.byId.delete(id);
    }
    return changed;
  }
}
