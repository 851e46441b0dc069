import type { Filter } from 'mongodb';
import type { FindOptions, Stored } from '../port/collection';
import { UnindexedQueryError } from '../port/errors';
import { planQuery, type QueryPlan, type Sort, sortLimit } from '../port/query-plan';
import { type Clause, parseFilter } from '../rules/filter';
import { comparator } from '../rules/sort';
import type { Declaration } from '../rules/spec';
import type { Connection } from './connection';
import { matcher } from './matcher';
import { fieldOf, identifier, indexName, valueOf } from './schema';
import { type Where, whereSql } from './where';

/** A filter made ready: the SQL that finds candidates through an index, and the test they must pass. */
export interface Search<T> {
  clauses: Clause[];
  plan: QueryPlan;
  where: Where;
  /** `"table" INDEXED BY "index"`: SQLite reports an error rather than read the whole table. */
  source: string;
  /** Undefined when the SQL finds exactly what the filter means. */
  test: ((document: T) => boolean) | undefined;
}

function sourceSql({ name }: Declaration, { indexes }: QueryPlan): string {
  const [index, ...more] = indexes;
  // An `$or` uses several indexes, which SQL cannot express.
  if (!index || more.length > 0) {
    return identifier(name);
  }
  return `${identifier(name)} INDEXED BY ${identifier(indexName(name, index))}`;
}

/** @throws UnindexedQueryError @throws InvalidOperationError */
export function prepareSearch<T extends Stored>(
  declaration: Declaration,
  filter: Filter<T>,
  { sort, limit }: FindOptions = {},
): Search<T> {
  const clauses = parseFilter(declaration.name, filter);
  const plan = planQuery(declaration, clauses, { ...(sort && { sort }), limited: limit !== undefined });
  const where = whereSql(declaration, clauses);
  return {
    clauses,
    plan,
    where,
    source: sourceSql(declaration, plan),
    test: where.exact ? undefined : matcher(filter, clauses),
  };
}

function orderSql(sort: Sort): string {
  const terms = Object.entries(sort).map(([path, direction]) => `${valueOf(path)} ${direction === 1 ? 'ASC' : 'DESC'}`);
  return terms.length > 0 ? ` ORDER BY ${terms.join(', ')}` : '';
}

/** The query that finds a search's candidates, in the order of the sort where the index gives it. */
export function selectSql<T>({ source, where, plan }: Search<T>, sort: Sort = {}): string {
  return `SELECT doc FROM ${source} WHERE ${where.sql}${plan.ordered ? orderSql(sort) : ''}`;
}

/** Limits of searches whose documents are read as one text: each row of a result costs twice what SQLite takes to find it. */
const joined = { from: 100, to: 1_000 } as const;

/** Runs a search and returns the matching documents. */
export function findDocuments<T extends Stored>(
  connection: Connection,
  declaration: Declaration,
  { search, sort = {}, skip = 0, limit }: FindOptions & { search: Search<T> },
): T[] {
  const { where, plan, test } = search;
  const select = selectSql(search, sort);
  const parse = ([text]: [string]) => JSON.parse(text) as T;
  if (plan.ordered && !test && limit !== undefined && limit >= joined.from && limit <= joined.to) {
    const [texts] =
      connection.row<[string | null]>(
        `SELECT group_concat(doc, ',') FROM (${select} LIMIT ? OFFSET ?)`,
        ...where.parameters,
        ...[limit, skip],
      ) ?? [];
    return JSON.parse(`[${texts ?? ''}]`) as T[];
  }
  if (plan.ordered && !test) {
    return connection.rows<[string]>(`${select} LIMIT ? OFFSET ?`, ...where.parameters, limit ?? -1, skip).map(parse);
  }
  const documents = connection.rows<[string]>(select, ...where.parameters).map(parse);
  const matching = test ? documents.filter(test) : documents;
  if (!plan.ordered) {
    sortAll(declaration, matching, sort);
  }
  return matching.slice(skip, limit === undefined ? undefined : skip + limit);
}

function sortAll(declaration: Declaration, documents: object[], sort: Sort): void {
  if (documents.length > sortLimit) {
    throw new UnindexedQueryError(declaration.name, Object.keys(sort));
  }
  documents.sort(comparator(sort));
}

/** Runs a search and returns these fields of the matching documents; what else is in their text never becomes an object. */
export function findFieldsOf<T extends Stored, K extends keyof T & string>(
  connection: Connection,
  declaration: Declaration,
  { fields, ...options }: FindOptions & { search: Search<T>; fields: readonly K[] },
): Pick<T, K>[] {
  const { search, sort = {}, skip = 0, limit } = options;
  const { source, where, plan, test } = search;
  if (test) {
    return findDocuments(connection, declaration, options).map((document) => picked<T, K>(document, fields));
  }
  const read = [...new Set([...fields, ...Object.keys(sort).map((path) => path.split('.')[0] ?? path)])];
  const columns = read.map(fieldOf).join(', ');
  const ordered = plan.ordered ? `${orderSql(sort)} LIMIT ? OFFSET ?` : '';
  const rows = connection.rows<(string | null)[]>(
    `SELECT ${columns} FROM ${source} WHERE ${where.sql}${ordered}`,
    ...where.parameters,
    ...(plan.ordered ? [limit ?? -1, skip] : []),
  );
  const documents = rows.map((texts) =>
    Object.fromEntries(
      read.flatMap((field, n) => (typeof texts[n] === 'string' ? [[field, JSON.parse(texts[n]) as unknown]] : [])),
    ),
  );
  if (!plan.ordered) {
    sortAll(declaration, documents, sort);
  }
  const part = plan.ordered ? documents : documents.slice(skip, limit === undefined ? undefined : skip + limit);
  return part.map((document) => picked<T, K>(document, fields));
}

/** Those of the fields that a document has. */
function picked<T, K extends keyof T & string>(document: object, fields: readonly K[]): Pick<T, K> {
  const kept = Object.entries(document).filter(([field]) => (fields as readonly string[]).includes(field));
  // The fields are those of the stored type.
  return Object.fromEntries(kept) as Pick<T, K>;
}

/** Runs a search and returns how many documents match. */
export function countDocuments<T extends Stored>(connection: Connection, { where, source, test }: Search<T>): number {
  if (!test) {
    const sql = `SELECT count(*) FROM ${source} WHERE ${where.sql}`;
    return connection.row<[number]>(sql, ...where.parameters)?.[0] ?? 0;
  }
  const rows = connection.rows<[string]>(`SELECT doc FROM ${source} WHERE ${where.sql}`, ...where.parameters);
  return rows.filter(([text]) => test(JSON.parse(text) as T)).length;
}
