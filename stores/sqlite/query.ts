import type { Filter } from 'mongodb';
import type { FindOptions, Stored } from '../port/collection';
import { UnindexedQueryError } from '../port/errors';
import { planQuery, type QueryPlan, type Sort, sortLimit } from '../port/query-plan';
import { type Clause, parseFilter } from '../rules/filter';
import { comparator } from '../rules/sort';
import type { Declaration } from '../rules/spec';
import type { Connection } from './connection';
import { matcher } from './matcher';
import { identifier, indexName, valueOf } from './schema';
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
    if (matching.length > sortLimit) {
      throw new UnindexedQueryError(declaration.name, Object.keys(sort));
    }
    matching.sort(comparator(sort));
  }
  return matching.slice(skip, limit === undefined ? undefined : skip + limit);
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
