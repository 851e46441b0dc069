import type { CollectionSpec, IndexSpec } from '../port/collection';
import { InvalidOperationError } from '../port/errors';

const namePattern = /^[a-z][a-z0-9-]{0,60}$/;
/** Narrow on purpose: declared paths become part of SQL text. */
const pathPattern = /^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$/;

export interface DeclaredIndex {
  /** Stable over restarts and the same in every process: made from the keys. */
  name: string;
  keys: [path: string, direction: 1 | -1][];
  unique: boolean;
}

/** A collection's declaration, verified, with the index that expiry needs. */
export interface Declaration {
  name: string;
  indexes: DeclaredIndex[];
  /** Every path of every index except `_id`: these hold scalars only. */
  indexedPaths: string[];
  expire?: { field: string; afterSeconds: number };
}

function declareIndex({ keys, unique = false }: IndexSpec): DeclaredIndex {
  const entries = Object.entries(keys);
  const name = entries.map(([path, direction]) => `${path}${direction === 1 ? '+' : '-'}`).join(',');
  return { name: unique ? `${name}!` : name, keys: entries, unique };
}

/** @throws InvalidOperationError when the name or a path is not one that both adapters can carry */
export function assertDeclarable(name: string, paths: string[]): void {
  if (!namePattern.test(name)) {
    throw new InvalidOperationError(name, 'the name must be in kebab-case.');
  }
  for (const path of paths) {
    if (!pathPattern.test(path)) {
      throw new InvalidOperationError(name, `${JSON.stringify(path)} cannot be indexed.`);
    }
  }
}

/** @throws InvalidOperationError when the declaration is not one that both adapters can carry */
export function declare(spec: CollectionSpec): Declaration {
  const indexes = (spec.indexes ?? []).map(declareIndex);
  const { expire } = spec;
  if (expire && !indexes.some((index) => index.keys[0]?.[0] === expire.field && !index.unique)) {
    indexes.push(declareIndex({ keys: { [expire.field]: 1 } }));
  }
  const paths = new Set(indexes.flatMap((index) => index.keys.map(([path]) => path)));
  assertDeclarable(spec.name, [...paths]);
  paths.delete('_id');
  return { name: spec.name, indexes, indexedPaths: [...paths], ...(expire && { expire }) };
}
