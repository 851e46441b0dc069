import type { Attributes } from '../engine/attributes';
import type { Catalog, Index } from '../engine/catalog';
import type { ColumnSet } from '../engine/column-set';
import { shardWidth } from '../engine/segments';
import type { Minutes } from '../engine/time-quantum';
import { compare, type Int } from '../int';
import { finish, rowsOfStep, sortedInSteps, type Steps } from '../steps';
import { CountExpiredError } from '../threads/counting';
import type { Threads } from '../threads/threads';
import { type Call, textOf, type Value } from './ast';
import { fromEarlier, isEarlierQuery } from './earlier';
import { CallError, QueryError } from './errors';
import { Budget, defaultLimits, type QueryLimits } from './limits';
import { extremeRow, groupBy, rows } from './listing';
import { parse } from './parser';
import type { Answer, Result, RowResult } from './result';
import { countRow, evaluateRow, isRowCall, onlyChild } from './rows';
import { rowNamed, type Scope } from './scope';
import { checkCall } from './signatures';
import { type Course, courseOf, type Slices } from './slices';
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

type ReadCall = (scope: Scope, call: Call) => Steps<Outcome>;

const readCalls: Record<string, ReadCall> = {
  *Count(scope, call) {
    const count = yield* countRow(scope, onlyChild(call));
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
  limits?: QueryLimits;
}

export interface ThreadedExecution extends Execution {
  /** Count what takes long; absent: the main thread does everything. */
  threads: Threads | undefined;
  slices: Slices;
}

const minutesNow = (): Minutes => Math.floor(Date.now() / 60_000);

/**
 * Executes a query text at once: its calls one after the other, until one fails; what earlier ones wrote stays.
 *
 * @throws QueryError
 */
export function execute(execution: Execution, text: string): Answer {
  const { limits = defaultLimits } = execution;
  const answer = finish(executed(execution, { course: courseOf(limits.ms, false), threads: undefined }, text));
  if (answer instanceof Promise) {
    throw new Error('only threads answer later');
  }
  return answer;
}

/**
 * Executes a query text like `execute`. One that only reads is executed in slices, and threads count what takes long when
 * it only counts: then the answer is a promise. It is about what was there when its rows were read.
 *
 * @throws QueryError at once or, where the answer is a promise, later
 */
export function executeWith(execution: ThreadedExecution, text: string): Answer | Promise<Answer> {
  const { threads, slices, limits = defaultLimits } = execution;
  const course = courseOf(limits.ms, true);
  return slices.run(executed(execution, { course, threads: slices.hasRoom ? threads : undefined }, text), course);
}

/** Takes the steps of a query; its answer, or a promise of it where threads count. */
function* executed(
  { catalog, index, limits = defaultLimits, options = {}, now = minutesNow }: Execution,
  { course, threads }: { course: Course; threads: Threads | undefined },
  text: string,
): Steps<Answer | Promise<Answer>> {
  const outcomes: Outcome[] = [];
  let isExpected = false;
  try {
    const parsed = yield* parse(text);
    const isEarlier = options.isEarlier === true || isEarlierQuery(parsed);
    const calls = isEarlier ? parsed.map(fromEarlier) : parsed;
    if (isEarlier && calls.length === 0) {
      throw new QueryError('parsing: unexpected EOF');
    }
    const writes = countWrites(calls);
    if (writes > maxWrites) {
      throw new QueryError('executing: too many write commands');
    }
    if (writes > 0) {
      // What it writes is made durable as a whole: no other write comes in between.
      Object.assign(course, courseOf(limits.writeMs, false));
    }
    const budget = new Budget(limits);
    const mayWait = threads && !calls.some(answersAtOnce);
    const scope: Scope = {
      index,
      write: catalog.write,
      shards: options.shards?.length ? budget.shards(options.shards, 0) : undefined,
      now,
      threads: mayWait ? threads : undefined,
      until: Date.now() + course.until - performance.now(),
      budget,
    };
    for (const call of calls) {
      checkCall(call);
      const outcome = yield* executeCall(scope, call, options);
      // A later call may change what an earlier one found.
      outcomes.push(settled(outcome, writes > 0));
      yield;
    }
    isExpected = true;
    if (outcomes.every(isThere)) {
      return yield* answerOf(scope, { results: outcomes, isEarlier });
    }
    return Promise.all(outcomes.map((one) => Promise.resolve(one)))
      .then((results) => finish(answerOf(scope, { results, isEarlier })))
      .catch((error: unknown) => {
        throw refusalOf(error, text);
      });
  } catch (error) {
    throw refusalOf(error, text);
  } finally {
    // No caller waits for the others any more.
    for (const outcome of isExpected ? [] : outcomes) {
      if (!isThere(outcome)) {
        outcome.catch(() => undefined);
      }
    }
  }
}

function refusalOf(error: unknown, text: string): unknown {
  if (error instanceof CountExpiredError) {
    return new QueryError('executing: counting took longer than it may');
  }
  return error instanceof CallError ? error.within(text) : error;
}

function* answerOf(
  scope: Scope,
  { results, isEarlier }: { results: readonly Result[]; isEarlier: boolean },
): Steps<Answer> {
  return { results, isEarlier, ...(yield* columnAttributesOf(scope, results)), ...keysOf(scope.index) };
}

const isThere = (outcome: Outcome): outcome is Result => !(outcome instanceof Promise);

/** Rows are returned as they are stored, and writes are applied when they return: neither can wait for another call. */
function answersAtOnce({ name, children }: Call): boolean {
  if (name === 'Options') {
    return children.some(answersAtOnce);
  }
  return isRowCall(name) || Object.hasOwn(writeCalls, name);
}

const isWrite = ({ name }: Call): boolean =>
  Object.hasOwn(writeCalls, name) || name === 'SetBit' || name === 'ClearBit';

/** Also what `Options` has for its call. */
const countWrites = (calls: readonly Call[]): number =>
  calls.reduce(
    (count, call) =>
      count + (isWrite(call) ? 1 : 0) + (call.name === 'Options' ? countWrites(call.children.slice(0, 1)) : 0),
    0,
  );

const settled = (result: Outcome, mayChange: boolean): Outcome =>
  isThere(result) && result.kind === 'row' && mayChange ? { ...result, columns: result.columns.clone() } : result;

const keysOf = (index: Index): Pick<Answer, 'keyOf'> =>
  index.options.keys ? { keyOf: (column) => index.keys.key(column) ?? '' } : {};

function* executeCall(scope: Scope, call: Call, options: QueryOptions): Steps<Outcome> {
  const { name } = call;
  if (name === 'Options') {
    return yield* withOptions(scope, call, options);
  }
  if (isRowCall(name)) {
    return yield* rowResult(scope, call, options);
  }
  const handler = Object.hasOwn(readCalls, name)
    ? readCalls[name]
    : Object.hasOwn(writeCalls, name)
      ? writeCalls[name]
      : undefined;
  if (!handler) {
    throw new CallError(`unknown call: ${name}`, call.at);
  }
  return yield* handler(scope, call);
}

function* rowResult(scope: Scope, call: Call, options: QueryOptions): Steps<RowResult> {
  const { budget } = scope;
  const columns = yield* evaluateRow(scope, call);
  const attributes = rowAttributes(scope, call);
  if (!options.excludeColumns) {
    yield* countColumnBytes(scope, columns, call.at);
  }
  if (!options.excludeAttributes) {
    budget.answerWith(bytesOfAttributes(attributes), call.at);
  }
  return {
    kind: 'row',
    columns,
    attributes,
    withoutColumns: options.excludeColumns ?? false,
    withoutAttributes: options.excludeAttributes ?? false,
    withColumnAttributes: (options.columnAttributes ?? false) && !options.excludeColumns,
  };
}

/** Counts what the columns take in an answer: their digits, or their keys. */
function* countColumnBytes({ index, budget }: Scope, columns: ColumnSet, at: number): Steps<void> {
  const shard = columns.highestShard();
  const digits = shard === undefined ? 0 : String((shard + 1) * shardWidth).length + 1;
  budget.answerWith(columns.size * (index.options.keys ? 3 : digits), at);
  if (!index.options.keys) {
    return;
  }
  for (const chunk of columns.chunks()) {
    budget.answerWith(
      chunk.reduce<number>((bytes, column) => bytes + (index.keys.key(column)?.length ?? 0), 0),
      at,
    );
    yield;
  }
}

const bytesOfAttributes = (attributes: Attributes): number =>
  attributes.reduce(
    (bytes, [name, value]) => bytes + name.length + 8 + (typeof value === 'string' ? value.length : 20),
    0,
  );

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
function* withOptions(scope: Scope, call: Call, outer: QueryOptions): Steps<Outcome> {
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
    return yield* executeCall(scope, inner, options);
  }
  const list = Array.isArray(shards.value) ? (shards.value as readonly Value[]) : undefined;
  if (!list?.every((shard): shard is number => typeof shard === 'number' && shard >= 0)) {
    throw new CallError('shards must be a list of numbers', shards.at);
  }
  return yield* executeCall({ ...scope, shards: scope.budget.shards(list, shards.at) }, inner, options);
}

/** Sum, smallest or largest of an integer field; 0 and 0 for a field that is none. */
function* aggregate(scope: Scope, call: Call, which: 'sum' | 'min' | 'max'): Steps<Result> {
  const [filter] = call.children;
  const name = textOf(call.args.get('field')?.value);
  const field = name === undefined ? undefined : scope.index.fields.get(name);
  if (field?.damage) {
    throw new CallError(`field ${field.name} is out of service: ${field.damage.reason}`, call.at);
  }
  const within = filter ? yield* evaluateRow(scope, filter) : scope.shards;
  const found = field?.values && (yield* field.values.valueInSteps(within, which));
  if (within) {
    scope.budget.drop(within);
  }
  return { kind: 'value', ...(found ?? { value: 0, count: 0 }) };
}

/** The attributes of all columns in the rows that asked for them. */
function* columnAttributesOf(
  { index, budget }: Scope,
  results: readonly Result[],
): Steps<Pick<Answer, 'columnAttributes'>> {
  const asked = results.filter((result): result is RowResult => result.kind === 'row' && result.withColumnAttributes);
  if (asked.length === 0) {
    return {};
  }
  const columns: Int[] = [];
  for (const [at, column] of index.attributes.ids().entries()) {
    if (asked.some(({ columns: of }) => of.has(column))) {
      columns.push(column);
    }
    if (at % rowsOfStep === 0) {
      yield;
    }
  }
  const columnAttributes: NonNullable<Answer['columnAttributes']>[number][] = [];
  for (const column of yield* sortedInSteps(columns, compare)) {
    const attributes = index.attributes.of(column);
    const key = index.options.keys ? (index.keys.key(column) ?? '') : undefined;
    budget.answerWith(bytesOfAttributes(attributes) + 20 + (key?.length ?? 0), 0);
    columnAttributes.push({ column, ...(key === undefined ? {} : { key }), attributes });
    yield;
  }
  return { columnAttributes };
}
