import { AttributeTable } from './attributes';
import type { Change } from './change';
import { ColumnSet } from './column-set';
import { type Damage, Field } from './field';
import { KeyTable } from './keys';
import type { FieldOptions, IndexOptions } from './options';

/** One index: its fields, which columns exist, attributes and keys of its columns. */
export class Index {
  readonly fields = new Map<string, Field>();
  readonly existing = new ColumnSet();
  readonly attributes = new AttributeTable();
  readonly keys = new KeyTable();
  damage: Damage | undefined;

  constructor(
    readonly number: number,
    readonly name: string,
    readonly options: IndexOptions,
  ) {}
}

/**
 * All indexes. Every change of data goes through `write`, which applies it and hands it to the journal; recovery applies
 * the same changes again with `apply`.
 */
export class Catalog {
  readonly indexes = new Map<string, Index>();
  private readonly byNumber = new Map<number, Index | Field>();
  private lastNumber = 0;

  /** @param journal receives every change that made a difference, right after it was applied */
  constructor(private readonly journal: (change: Change) => void = () => undefined) {}

  readonly write = (change: Change): boolean => {
    const changed = this.apply(change);
    if (changed) {
      this.journal(change);
    }
    return changed;
  };

  createIndex(name: string, options: IndexOptions): Index {
    const target = this.lastNumber + 1;
    this.write({ kind: 'index', target, name, options });
    return this.byNumber.get(target) as Index;
  }

  createField(index: Index, name: string, options: FieldOptions): Field {
    const target = this.lastNumber + 1;
    this.write({ kind: 'field', target, index: index.number, name, options });
    return this.byNumber.get(target) as Field;
  }

  remove(thing: Index | Field): void {
    this.write({ kind: 'removed', target: thing.number });
  }

  /** The index or field with this number, while it is there. */
  find(number: number): Index | Field | undefined {
    return this.byNumber.get(number);
  }

  /** All indexes and fields; an index comes before its fields. */
  all(): (Index | Field)[] {
    return [...this.indexes.values()].flatMap((index) => [index, ...index.fields.values()]);
  }

  /** Applies a change; whether anything is different now. A change of something that is no longer there is none. */
  apply(change: Change): boolean {
    if (change.kind === 'index' || change.kind === 'field') {
      return this.add(change);
    }
    const target = this.byNumber.get(change.target);
    if (!target) {
      return false;
    }
    switch (change.kind) {
      case 'removed':
        return this.drop(target);
      case 'attributes':
        return target.attributes.merge(change.id, change.patch);
      case 'keys':
        target.keys.load(change.first, change.keys);
        return true;
      default:
        if (target instanceof Field) {
          return target.apply(change);
        }
        if (change.kind === 'bit') {
          return target.existing.add(change.column);
        }
        {
          const before = target.existing.size;
          if (change.kind === 'columns') {
            target.existing.addAll(change.columns);
          } else if (change.kind === 'listed') {
            target.existing.addList(change.columns);
          }
          return target.existing.size !== before;
        }
    }
  }

  private add(change: Change & { kind: 'index' | 'field' }): boolean {
    this.lastNumber = Math.max(this.lastNumber, change.target);
    const target = this.byNumber.get(change.target);
    const owner = change.kind === 'field' ? this.byNumber.get(change.index) : undefined;
    if (change.kind === 'index') {
      const index = target instanceof Index ? target : new Index(change.target, change.name, change.options);
      this.indexes.set(change.name, index);
      this.byNumber.set(change.target, index);
    } else if (owner instanceof Index) {
      // A field that is there already, and lost its name to one that is older and gone, gets it back.
      const field = target instanceof Field ? target : new Field(change.target, change.name, change.options);
      owner.fields.set(change.name, field);
      this.byNumber.set(change.target, field);
      field.index = owner.number;
    } else {
      return false;
    }
    return !target;
  }

  private drop(target: Index | Field): boolean {
    this.byNumber.delete(target.number);
    if (target instanceof Index) {
      for (const field of target.fields.values()) {
        this.byNumber.delete(field.number);
      }
      if (this.indexes.get(target.name) === target) {
        this.indexes.delete(target.name);
      }
      return true;
    }
    const owner = this.byNumber.get(target.index);
    if (owner instanceof Index && owner.fields.get(target.name) === target) {
      owner.fields.delete(target.name);
    }
    return true;
  }
}
