import type { Catalog, Index } from '../engine/catalog';
import { ColumnSet } from '../engine/column-set';
import type { Minutes } from '../engine/time-quantum';
import { compare, type Int } from '../int';
import type { Threads } from '../threads/threads';
import { type Call, textOf, type Value } from './ast';
import { fromEarlier, isEarlierQuery } from './earlier';
import { CallError, QueryError } from './errors';
import { extremeRow, groupBy, rows } from './listing';
import { parse } from './parser';
import type { Answer, Result, RowResult } from './result';
import { countRow, evaluateRow, isRowCall, onlyChild } from './rows';
import { rowNamed, type Scope } from './scope';
import { top } from './top';
import { writeCalls } from './writes';

export interface QueryOptions {
  /** Limits reads to these shards; absent or empty: all. */
  shards?: readonly number[];
  columnAttributes?: boolean;
  excludeColumns?: boolean;
  excludeAttributes?: boolean;
  /** The request uses the earlier revision's words. */
  isEarlier?: boolean;
}

/** More writes than this in one request are refused. */
const maxWrites = 5_000;

/** What other threads count comes later. */
type Outcome = Result | Promise<Result>;

type ReadCall = (scope: Scope, call: Call) => Outcome;

const readCalls: Record<string, ReadCall> = {
  Count: (scope, call) => {
    const count = countRow(scope, onlyChild(call));
    return typeof count === 'number' ? { kind: 'count', count } : count.then((one) => ({ kind: 'count', count: one }));
  },
  Sum: (scope, call) => aggregate(scope, call, 'sum'),
  Min: (scope, call) => aggregate(scope, call, 'min'),
  Max: (scope, call) => aggregate(scope, call, 'max'),
  TopN: top,
  Rows: rows,
  GroupBy: groupBy,
  MinRow: (scope, call) => extremeRow(scope, call, 'start'),
  MaxRow: (scope, call) => extremeRow(scope, call, 'end'),
};

interface Execution {
  catalog: Catalog;
  index: Index;
  options?: QueryOptions;
  now?: () => Minutes;
}

export interface ThreadedExecution extends Execution {
  /** Count what takes long; absent: the main thread does everything. */
  threads: Threads | undefined;
}

/**
 * Executes a query text: its calls one after the other, until one fails; what earlier ones wrote stays.
 *
 * @throws QueryError
 */
export function execute({ catalog, index, options, now }: Execution, text: string): Answer {
  const answer = executeWith({ threads: undefined, catalog, index, options, now }, text);
  if (answer instanceof Promise) {
    throw new Error('only threads answer later');
  }
  return answer;
}

/**
 * Executes a query text like `execute`, and lets threads count what takes long, when it is a query that only counts: then
 * the answer is a promise. It is about what was there when this was called; mistakes are thrown at once.
 *
 * @throws QueryError
 */
export function executeWith(
  { threads, catalog, index, options = {}, now = () => Math.floor(Date.now() / 60_000) }: ThreadedExecution,
  text: string,
): Answer | Promise<Answer> {
  const parsed = parse(text);
  if (countWrites(parsed) > maxWrites) {
    throw new QueryError('executing: too many write commands');
  }
  const outcomes: Outcome[] = [];
  try {
    const isEarlier = options.isEarlier === true || isEarlierQuery(parsed);
    const calls = isEarlier ? parsed.map(fromEarlier) : parsed;
    if (isEarlier && calls.length === 0) {
      throw new QueryError('parsing: unexpected EOF');
    }
    const shards = options.shards?.length ? ColumnSet.ofShards(options.shards) : undefined;
    // A later call may change what an earlier one found.
    const mayChange = countWrites(calls) > 0;
    const mayWait = threads && !calls.some(answersAtOnce);
    const scope: Scope = { index, write: catalog.write, shards, now, threads: mayWait ? threads : undefined };
    for (const call of calls) {
      outcomes.push(settled(executeCall(scope, call, options), mayChange));
    }
    const answer = (results: readonly Result[]): Answer => ({
      results,
      isEarlier,
      ...columnAttributesOf(index, results),
      ...keysOf(index),
    });
    return outcomes.every(isThere)
      ? answer(outcomes)
      : Promise.all(outcomes.map((one) => Promise.resolve(one))).then(answer);
  } catch (error) {
    // No caller waits for the others any more.
    for (const outcome of outcomes) {
      if (!isThere(outcome)) {
        outcome.catch(() => undefined);
      }
    }
    throw error instanceof CallError ? error.within(text) : error;
  }
}

const isThere = (outcome: Outcome): outcome is Result => !(outcome instanceof Promise);

/** Rows are returned as they are stored, and writes are applied when they return: neither can wait for another call. */
function answersAtOnce({ name, children }: Call): boolean {
  if (name === 'Options') {
    return children.some(answersAtOnce);
  }
  return isRowCall(name) || Object.hasOwn(writeCalls, name);
}

const countWrites = (calls: readonly Call[]): number =>
  calls.filter(({ name }) => Object.hasOwn(writeCalls, name) || name === 'SetBit' || name === 'ClearBit').length;

const settled = (result: Outcome, mayChange: boolean): Outcome =>
  isThere(result) && result.kind === 'row' && mayChange ? { ...result, columns: result.columns.clone() } : result;

const keysOf = (index: Index): Pick<Answer, 'keyOf'> =>
  index.options.keys ? { keyOf: (column) => index.keys.key(column) ?? '' } : {};

function executeCall(scope: Scope, call: Call, options: QueryOptions): Outcome {
  const { name } = call;
  if (name === 'Options') {
    return withOptions(scope, call, options);
  }
  if (isRowCall(name)) {
    return rowResult(scope, call, options);
  }
  const handler = Object.hasOwn(readCalls, name)
    ? readCalls[name]
    : Object.hasOwn(writeCalls, name)
      ? writeCalls[name]
      : undefined;
  if (!handler) {
    throw new CallError(`unknown call: ${name}`, call.at);
  }
  return handler(scope, call);
}

function rowResult(scope: Scope, call: Call, options: QueryOptions): RowResult {
  return {
    kind: 'row',
    columns: evaluateRow(scope, call),
    attributes: rowAttributes(scope, call),
    withoutColumns: options.excludeColumns ?? false,
    withoutAttributes: options.excludeAttributes ?? false,
    withColumnAttributes: (options.columnAttributes ?? false) && !options.excludeColumns,
  };
}

/** Only the plain `Row(field=row)` has the attributes of its row. */
function rowAttributes({ index }: Scope, call: Call): RowResult['attributes'] {
  const [only, second] = [...call.args];
  if (call.name !== 'Row' || !only || second) {
    return [];
  }
  const field = index.fields.get(only[0]);
  if (!field || field.values || only[1].operator !== '=') {
    return [];
  }
  const row = rowNamed(field, only[1].value, call.at);
  return row === undefined ? [] : field.attributes.of(row);
}

/** `Options(call, …)`: the inner call, with options of its own. */
function withOptions(scope: Scope, call: Call, outer: QueryOptions): Outcome {
  const [inner] = call.children;
  if (!inner) {
    throw new CallError('Options needs a call', call.at);
  }
  const flag = (name: string): boolean | undefined => {
    const argument = call.args.get(name);
    if (argument && typeof argument.value !== 'boolean') {
      throw new CallError(`${name} must be true or false`, argument.at);
    }
    return argument?.value === undefined ? undefined : argument.value === true;
  };
  const options: QueryOptions = {
    ...outer,
    columnAttributes: flag('columnAttrs') ?? outer.columnAttributes,
    excludeColumns: flag('excludeColumns') ?? outer.excludeColumns,
    excludeAttributes: flag('excludeRowAttrs') ?? outer.excludeAttributes,
  };
  const shards = call.args.get('shards');
  if (!shards) {
    return executeCall(scope, inner, options);
  }
  const list = Array.isArray(shards.value) ? (shards.value as readonly Value[]) : undefined;
  if (!list?.every((shard): shard is number => typeof shard === 'number' && shard >= 0)) {
    throw new CallError('shards must be a list of numbers', shards.at);
  }
  return executeCall({ ...scope, shards: ColumnSet.ofShards(list) }, inner, options);
}

/** Sum, smallest or largest of an integer field; 0 and 0 for a field that is none. */
function aggregate(scope: Scope, call: Call, which: 'sum' | 'min' | 'max'): Result {
  const [filter, second] = call.children;
  if (second) {
    throw new CallError(`${call.name} takes only one row`, second.at);
  }
  const name = textOf(call.args.get('field')?.value);
  const field = name === undefined ? undefined : scope.index.fields.get(name);
  if (field?.damage) {
    throw new CallError(`field ${field.name} is out of service: ${field.damage.reason}`, call.at);
  }
  const within = filter ? evaluateRow(scope, filter) : scope.shards;
  return { kind: 'value', ...(field?.values?.[which](within) ?? { value: 0, count: 0 }) };
}

/** The attributes of all columns in the rows that asked for them. */
function columnAttributesOf(index: Index, results: readonly Result[]): Pick<Answer, 'columnAttributes'> {
  const asked = results.filter((result): result is RowResult => result.kind === 'row' && result.withColumnAttributes);
  if (asked.length === 0) {
    return {};
  }
  const columns = index.attributes.ids().filter((column: Int) => asked.some(({ columns }) => columns.has(column)));
  return {
    columnAttributes: columns.sort(compare).map((column) => ({
      column,
      ...(index.options.keys ? { key: index.keys.key(column) ?? '' } : {}),
      attributes: index.attributes.of(column),
    })),
  };
}
