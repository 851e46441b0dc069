import type { Clause } from '../rules/filter';
import type { Declaration } from '../rules/spec';
import type { Scalar } from '../rules/values';
import type { Parameter } from './connection';
import { typeOf, valueOf } from './schema';

/** A condition in SQL that every matching document meets. */
export interface Where {
  sql: string;
  parameters: Parameter[];
  /** Only matching documents meet it; otherwise the filter itself must still be applied to what it finds. */
  exact: boolean;
}

const everything: Where = { sql: '1', parameters: [], exact: false };
const nothing: Where = { sql: '0', parameters: [], exact: true };
const symbols = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const;

/** In SQL true is 1 and false is 0, so comparing a number with 0 or 1 needs the JSON type. */
const isNumber = (path: string) => `${typeOf(path)} IN ('integer','real')`;

function equalSql(path: string, value: Scalar): Where {
  const column = valueOf(path);
  if (value === null) {
    return { sql: `${column} IS NULL`, parameters: [], exact: true };
  }
  if (typeof value === 'boolean') {
    const type = `${typeOf(path)} = '${String(value)}'`;
    return { sql: `${column} = ${value ? 1 : 0} AND ${type}`, parameters: [], exact: true };
  }
  const ambiguous = value === 0 || value === 1;
  return { sql: ambiguous ? `${column} = ? AND ${isNumber(path)}` : `${column} = ?`, parameters: [value], exact: true };
}

function inSql(path: string, values: Scalar[]): Where {
  // One parameter for any number of values: the statement stays the same one.
  const sql = `${valueOf(path)} IN (SELECT value FROM json_each(?))`;
  const exact = values.every(
    (value) => typeof value === 'string' || (typeof value === 'number' && value !== 0 && value !== 1),
  );
  return values.includes(null) ? everything : { sql, parameters: [JSON.stringify(values)], exact };
}

/** As in MongoDB, a range only contains values of its bound's type; SQL orders numbers before all text. */
function rangeSql({ path, operator, value }: Extract<Clause, { kind: 'range' }>): Where {
  const column = valueOf(path);
  const compare = `${column} ${symbols[operator]} ?`;
  const upwards = operator === '$gt' || operator === '$gte';
  if (typeof value === 'string') {
    return { sql: upwards ? compare : `${compare} AND ${column} >= ''`, parameters: [value], exact: true };
  }
  const bounded = upwards ? `${compare} AND ${column} < ''` : compare;
  return { sql: `${bounded} AND ${isNumber(path)}`, parameters: [value], exact: true };
}

function existsSql(path: string, exists: boolean): Where {
  const sql = exists ? `${typeOf(path)} IS NOT NULL` : `${valueOf(path)} IS NULL AND ${typeOf(path)} IS NULL`;
  return { sql, parameters: [], exact: true };
}

/** The column of ids would turn a number into text before comparing, so only text is compared with it. */
function idSql(clause: Exclude<Clause, { kind: 'either' | 'other' }>): Where {
  switch (clause.kind) {
    case 'equal':
      return typeof clause.value === 'string' ? equalSql('_id', clause.value) : nothing;
    case 'in':
      return inSql(
        '_id',
        clause.values.filter((value) => typeof value === 'string'),
      );
    case 'range':
      return typeof clause.value === 'string' ? rangeSql(clause) : nothing;
    case 'exists':
      return clause.exists ? { ...nothing, sql: '1' } : nothing;
  }
}

function join(parts: Where[], operator: 'AND' | 'OR'): Where {
  const sql = parts.map((part) => `(${part.sql})`).join(` ${operator} `);
  return { sql, parameters: parts.flatMap((part) => part.parameters), exact: parts.every((part) => part.exact) };
}

function clauseSql(clause: Clause, isSingleValued: (path: string) => boolean): Where {
  if (clause.kind === 'either') {
    return join(
      clause.branches.map((branch) => conjunction(branch, isSingleValued)),
      'OR',
    );
  }
  if (clause.kind === 'other' || !isSingleValued(clause.path)) {
    return everything;
  }
  if (clause.path === '_id') {
    return idSql(clause);
  }
  switch (clause.kind) {
    case 'equal':
      return equalSql(clause.path, clause.value);
    case 'in':
      return inSql(clause.path, clause.values);
    case 'range':
      return rangeSql(clause);
    case 'exists':
      return existsSql(clause.path, clause.exists);
  }
}

function conjunction(clauses: Clause[], isSingleValued: (path: string) => boolean): Where {
  if (clauses.length === 0) {
    return { sql: '1', parameters: [], exact: true };
  }
  return join(
    clauses.map((clause) => clauseSql(clause, isSingleValued)),
    'AND',
  );
}

/** Translates what concerns declared paths: those hold scalars, for which SQL and MongoDB mean the same. */
export function whereSql({ indexedPaths }: Declaration, clauses: Clause[]): Where {
  return conjunction(clauses, (path) => path === '_id' || indexedPaths.includes(path));
}
