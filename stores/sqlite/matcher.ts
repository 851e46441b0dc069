import { Context } from 'mingo/core';
import * as queryOperators from 'mingo/operators/query';
import { Query } from 'mingo/query';

/** The operators of filters only: mingo copies its table for every query. */
const context = Context.init({ query: { ...queryOperators } });

/** A test of documents by a MongoDB filter. */
export function matcher(filter: object): (document: object) => boolean {
  const query = new Query(filter, { context, scriptEnabled: false });
  return (document) => query.test(document as Record<string, unknown>);
}
