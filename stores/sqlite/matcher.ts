import { Context } from 'mingo/core';
import * as mingoOperators from 'mingo/operators/query';
import { Query } from 'mingo/query';
import type { Clause } from '../rules/filter';
import { scalarTest } from './scalar-test';

type QueryOperator = typeof mingoOperators.$eq;

/** As a list of `$eq`: mingo's `$in` hashes objects by their `constructor`, which may be a field of the document. */
const $in: QueryOperator = (path, values, options) => {
  const tests = (values as unknown[]).map((value) =>
    value instanceof RegExp ? mingoOperators.$regex(path, value, options) : mingoOperators.$eq(path, value, options),
  );
  return (document) => tests.some((test) => test(document));
};

const $nin: QueryOperator = (path, values, options) => {
  const isIn = $in(path, values, options);
  return (document) => !isIn(document);
};

/** The operators of filters only: mingo copies its table for every query. */
const context = Context.init({ query: { ...mingoOperators, $in, $nin } });

/**
 * A test of documents by a MongoDB filter.
 *
 * @param clauses of the filter
 */
export function matcher(filter: object, clauses?: readonly Clause[]): (document: object) => boolean {
  const rules = () => new Query(filter, { context, scriptEnabled: false });
  const byScalars = clauses && scalarTest(clauses);
  // What is wrong with other filters is reported here, and not with the first document.
  let query = byScalars ? undefined : rules();
  return (document) => byScalars?.(document) ?? (query ??= rules()).test(document as Record<string, unknown>);
}
