import { idIndex } from '../port/query-plan';
import type { Declaration, DeclaredIndex } from '../rules/spec';

/** A table or an index, and the statement that makes it. */
export interface SchemaObject {
  name: string;
  sql: string;
}

/** Quotes an identifier. Names are verified where they are declared; this makes the SQL right for any of them. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function jsonPath(path: string): string {
  const steps = path.split('.').map((step) => `."${step}"`);
  return `'$${steps.join('')}'`;
}

/** The SQL value of a declared path: what its index holds, character by character, or SQLite would not use the index. */
export function valueOf(path: string): string {
  return path === '_id' ? 'id' : `json_extract(doc,${jsonPath(path)})`;
}

/** The JSON text of a field of a document; NULL when it is missing. */
export function fieldOf(field: string): string {
  return `doc->${jsonPath(field)}`;
}

/** The JSON type of a declared path; NULL when it is missing. */
export function typeOf(path: string): string {
  return path === '_id' ? "'text'" : `json_type(doc,${jsonPath(path)})`;
}

export function indexName(collection: string, index: DeclaredIndex): string {
  // The primary key's own index has the name that SQLite gives it.
  return index === idIndex ? `sqlite_autoindex_${collection}_1` : `${collection}/${index.name}`;
}

/** The name of the index that enforces what a unique index promises. */
export function constraintName(collection: string, index: DeclaredIndex): string {
  return `${collection}/${index.name}!`;
}

/**
 * A unique index as MongoDB's sparse one: a document without any of the keys is not in it, a single missing key counts as null,
 * and 1, "1" and true differ. The JSON text of each key (`->`) distinguishes all of these; it cannot serve range queries, so
 * searching has its own index.
 */
function constraintOf(collection: string, index: DeclaredIndex): SchemaObject {
  const texts = index.keys.map(([path]) => (path === '_id' ? 'id' : `doc->${jsonPath(path)}`));
  const name = constraintName(collection, index);
  const create = `CREATE UNIQUE INDEX IF NOT EXISTS ${identifier(name)} ON ${identifier(collection)}`;
  if (texts.length === 1) {
    return { name, sql: `${create} (${texts.join()})` };
  }
  const present = texts.map((text) => `${text} IS NOT NULL`).join(' OR ');
  return { name, sql: `${create} (${texts.map((text) => `coalesce(${text},'null')`).join(', ')}) WHERE ${present}` };
}

function searchIndexOf(collection: string, index: DeclaredIndex): SchemaObject {
  const columns = index.keys.map(([path, direction]) => `${valueOf(path)} ${direction === 1 ? 'ASC' : 'DESC'}`);
  const name = indexName(collection, index);
  return {
    name,
    sql: `CREATE INDEX IF NOT EXISTS ${identifier(name)} ON ${identifier(collection)} (${columns.join(', ')})`,
  };
}

/** A collection's table and indexes. */
export function collectionSchema({ name, indexes }: Declaration): SchemaObject[] {
  const table = `CREATE TABLE IF NOT EXISTS ${identifier(name)} (id TEXT NOT NULL PRIMARY KEY, doc TEXT NOT NULL)`;
  return [
    { name, sql: table },
    ...indexes.map((index) => searchIndexOf(name, index)),
    ...indexes.filter((index) => index.unique).map((index) => constraintOf(name, index)),
  ];
}
