import { type BitSlices, type Comparison, widest } from '../engine/bit-slices';
import { ColumnSet, noColumns } from '../engine/column-set';
import { type Minutes, parseTime } from '../engine/time-quantum';
import { add, type Int, isInt } from '../int';
import type { Steps } from '../steps';
import { costOfSet } from '../threads/cost';
import type { SetOperation, SetPlan } from '../threads/set-plan';
import { type Argument, type Call, textOf, type Value } from './ast';
import { CallError } from './errors';
import { countArgument, fieldOf, rowNamed, type Scope } from './scope';
import { fieldArgument } from './signatures';

/** Evaluates one kind of call to columns. `within`: only these columns matter; others may be in the answer or not. */
type RowCall = (scope: Scope, call: Call, within?: ColumnSet) => Steps<ColumnSet>;

const minutesOfDay = 24 * 60;
/** So many rows are joined at once. */
const joinedAtOnce = 16;

const rowCalls: Record<string, RowCall> = {
  Row: rowLookup,
  Range: rowLookup,
  Union: union,
  Intersect: (scope, call, within) => intersection(scope, { at: call.at, calls: atLeastOne(call) }, within),
  Difference: (scope, call, within) =>
    folded(scope, atLeastOneOf(call), { within, by: (left, right) => left.andNot(right) }),
  Xor: (scope, call, within) => folded(scope, call, { within, by: (left, right) => left.xor(right) }),
  *Not(scope, call, within) {
    const { index, budget } = scope;
    if (!index.options.trackExistence) {
      throw new CallError(`Not needs an index that tracks which columns exist, and ${index.name} does not`, call.at);
    }
    const row = yield* evaluateRow(scope, onlyChild(call), within);
    const existing = visible(scope, call, index.existing);
    return budget.made(existing.andNot(row), call.at, [existing, row]);
  },
  *Shift(scope, call) {
    const by = call.args.get('n')?.value ?? 0;
    if (!isInt(by) || by < 0) {
      throw new CallError('n must be a number that is not negative', call.at);
    }
    const row = yield* evaluateRow(scope, onlyChild(call));
    return by === 0 ? row : visible(scope, call, scope.budget.made(row.shift(by), call.at, [row]));
  },
};

export const isRowCall = (name: string): boolean => Object.hasOwn(rowCalls, name);

/**
 * The columns that a call of a row, or of an operation on rows, stands for. The result may be stored data: not to be
 * changed.
 *
 * @param within only these columns matter to the caller
 * @throws CallError
 */
export function* evaluateRow(scope: Scope, call: Call, within?: ColumnSet): Steps<ColumnSet> {
  const evaluate = Object.hasOwn(rowCalls, call.name) ? rowCalls[call.name] : undefined;
  if (!evaluate) {
    throw new CallError(`${call.name} is not a row`, call.at);
  }
  const row = yield* evaluate(scope, call, within);
  yield;
  return row;
}

/** Combines the rows of a call one after the other, from the first on. */
function* folded(
  scope: Scope,
  call: Call,
  { within, by }: { within: ColumnSet | undefined; by: (left: ColumnSet, right: ColumnSet) => ColumnSet },
): Steps<ColumnSet> {
  let left: ColumnSet | undefined;
  for (const child of call.children) {
    const right = yield* evaluateRow(scope, child, within);
    left = left ? scope.budget.made(by(left, right), call.at, [left, right]) : right;
  }
  return left ?? noColumns;
}

function* union(scope: Scope, call: Call, within?: ColumnSet): Steps<ColumnSet> {
  const rows: ColumnSet[] = [];
  for (const child of call.children) {
    if (rows.length === joinedAtOnce) {
      const joined = scope.budget.made(ColumnSet.union(rows), call.at, rows);
      rows.splice(0, rows.length, joined);
      yield;
    }
    rows.push(yield* evaluateRow(scope, child, within));
  }
  const [only = noColumns, second] = rows;
  return second ? scope.budget.made(ColumnSet.union(rows), call.at, rows) : only;
}

const setOperations: Record<string, SetOperation> = {
  Union: 'union',
  Intersect: 'intersect',
  Difference: 'difference',
  Xor: 'xor',
};

const isSetOperation = ({ name }: Call): boolean => Object.hasOwn(setOperations, name);

/** Whether a call is a row by its name, or made of such by set operations: no comparisons, which have better ways. */
const isOfRows = (call: Call): boolean =>
  isSetOperation(call)
    ? call.children.every(isOfRows)
    : (call.name === 'Row' || call.name === 'Range') && !isComparison(call);

/** The columns that a call is limited to. */
export interface Filter {
  /** How they are made of stored rows, as far as they are; the rest is evaluated. */
  plan: SetPlan<ColumnSet>;
  columns: () => Steps<ColumnSet>;
}

/**
 * The columns of a call, or of the shards that reads are limited to when there is none; undefined for all. Stored rows are
 * left as they are, for others to know again.
 *
 * @throws CallError
 */
export function* filterOf(scope: Scope, call: Call | undefined): Steps<Filter | undefined> {
  const { shards } = scope;
  if (!call) {
    return shards && { plan: { leaf: shards }, columns: () => ready(shards) };
  }
  const plan = yield* planRow(scope, call);
  return { plan, columns: () => ('leaf' in plan ? ready(plan.leaf) : evaluateRow(scope, call)) };
}

function* ready(columns: ColumnSet): Steps<ColumnSet> {
  return columns;
}

function* planRow(scope: Scope, call: Call): Steps<SetPlan<ColumnSet>> {
  if (!isOfRows(call)) {
    return { leaf: yield* evaluateRow(scope, call) };
  }
  const { shards } = scope;
  if (!shards) {
    return yield* planOfRows(scope, call);
  }
  const everywhere = yield* planOfRows({ ...scope, shards: undefined }, call);
  return { operation: 'intersect', of: [everywhere, { leaf: shards }] };
}

function* planOfRows(scope: Scope, call: Call): Steps<SetPlan<ColumnSet>> {
  const operation = setOperations[call.name];
  if (!isSetOperation(call) || !operation) {
    return { leaf: yield* evaluateRow(scope, call) };
  }
  const { children } = operation === 'intersect' || operation === 'difference' ? atLeastOneOf(call) : call;
  const of: SetPlan<ColumnSet>[] = [];
  for (const child of children) {
    of.push(yield* planOfRows(scope, child));
  }
  return { operation, of };
}

/** How many columns a call stands for, from other threads where it takes long. */
export function* countRow(scope: Scope, call: Call): Steps<number | Promise<number>> {
  const { threads, until } = scope;
  if (threads && isSetOperation(call) && isOfRows(call)) {
    const filter = yield* planRow(scope, call);
    const asked = { filter, levels: [], costMs: costOfSet(filter), until };
    const counted = threads.count(asked, async (count) => (await count()).size);
    if (counted) {
      return counted;
    }
  }
  return yield* countRowHere(scope, call);
}

/** How many columns a call stands for, without building them where that can be avoided. */
function* countRowHere(scope: Scope, call: Call): Steps<number> {
  const { budget } = scope;
  if (call.name === 'Intersect' && call.children.length > 1) {
    const [last, ...others] = cheapestFirst(call.children).reverse();
    const left = yield* intersection(scope, { at: call.at, calls: others.reverse() });
    const right = last && (yield* evaluateRow(scope, last, left));
    const count = right ? left.countShared(right) : left.size;
    for (const set of [left, ...(right ? [right] : [])]) {
      budget.drop(set);
    }
    return count;
  }
  const condition = call.name === 'Row' || call.name === 'Range' ? comparisonOf(call) : undefined;
  if (condition && !scope.shards) {
    return yield* countComparison(scope, condition.name, condition.argument);
  }
  const row = yield* evaluateRow(scope, call);
  budget.drop(row);
  return row.size;
}

/** The one call that a call takes. */
export function onlyChild(call: Call): Call {
  const [child] = call.children;
  if (!child) {
    throw new CallError(`${call.name} needs a row`, call.at);
  }
  return child;
}

const visible = ({ shards, budget }: Scope, { at }: Call, columns: ColumnSet): ColumnSet =>
  shards ? budget.made(columns.and(shards), at, [columns]) : columns;

function atLeastOneOf(call: Call): Call {
  if (call.children.length === 0) {
    throw new CallError(`${call.name} needs at least one row`, call.at);
  }
  return call;
}

const atLeastOne = (call: Call): readonly Call[] => atLeastOneOf(call).children;

/** Comparisons of integers last: they then only read the columns that are left. */
const cheapestFirst = (calls: readonly Call[]): Call[] => [
  ...calls.filter((call) => !isComparison(call)),
  ...calls.filter(isComparison),
];

const isComparison = (call: Call): boolean => [...call.args.values()].some(({ operator }) => operator !== '=');

function* intersection(
  scope: Scope,
  { at, calls }: { at: number; calls: readonly Call[] },
  within?: ColumnSet,
): Steps<ColumnSet> {
  let left: ColumnSet | undefined;
  for (const call of cheapestFirst(calls)) {
    const right = yield* evaluateRow(scope, call, left ?? within);
    left = left ? scope.budget.made(left.and(right), at, [left, right]) : right;
  }
  return left ?? noColumns;
}

/** The condition of a call on an integer field, if it has one. */
function comparisonOf(call: Call): { name: string; argument: Argument } | undefined {
  const given = fieldArgument(call);
  return given.argument.operator === '=' ? undefined : given;
}

function* rowLookup(scope: Scope, call: Call, within?: ColumnSet): Steps<ColumnSet> {
  const { budget } = scope;
  const condition = comparisonOf(call);
  if (condition) {
    const compared = yield* comparison(scope, condition.name, { argument: condition.argument, within });
    return visible(scope, call, compared);
  }
  const { name, argument } = fieldArgument(call);
  const field = fieldOf(scope, name, argument.at);
  if (field.values) {
    idOrNothing(argument);
    return noColumns;
  }
  const times = timesOf(call, name, scope.now);
  const row = rowNamed(field, argument.value, argument.at);
  if (row === undefined) {
    return noColumns;
  }
  if (!times) {
    return visible(scope, call, field.row(row));
  }
  return visible(scope, call, budget.made(yield* field.rowBetween(row, times), call.at));
}

/** `Row(field = value)` on an integer field is no comparison (that is `==`) and finds nothing. */
function idOrNothing({ value, at }: Argument): void {
  if (!isInt(value)) {
    throw new CallError('an integer field is compared with an integer', at);
  }
}

/** The time range of a call on a field, as named arguments or in order; undefined when it has none. */
function timesOf(call: Call, field: string, now: () => Minutes): { from: Minutes; to: Minutes } | undefined {
  const inOrder = [...call.positional];
  const next = (name: string) => (name === field ? undefined : call.args.get(name)) ?? inOrder.shift();
  const from = timeOf(next('from'), call.at);
  const to = timeOf(next('to'), call.at);
  const [extra] = inOrder;
  if (extra) {
    throw new CallError('too many arguments', extra.at);
  }
  if (from === undefined && to === undefined) {
    return undefined;
  }
  return { from: from ?? -Infinity, to: to ?? now() + minutesOfDay };
}

/** @throws CallError for what is not a time */
export function timeOf(argument: { value: Value; at: number } | undefined, at: number): Minutes | undefined {
  if (!argument) {
    return undefined;
  }
  const time = parseTime(textOf(argument.value) ?? '');
  if (time === undefined) {
    throw new CallError('a time is written YYYY-MM-DDTHH:MM', argument.at || at);
  }
  return time;
}

function valuesOf(scope: Scope, name: string, at: number): BitSlices {
  const { values } = fieldOf(scope, name, at);
  if (!values) {
    throw new CallError(`${name} is not an integer field, it cannot be compared`, at);
  }
  return values;
}

function* comparison(
  scope: Scope,
  name: string,
  { argument, within }: { argument: Argument; within?: ColumnSet },
): Steps<ColumnSet> {
  const values = valuesOf(scope, name, argument.at);
  const condition = conditionOf(argument);
  if (condition === 'not-null') {
    return values.columns;
  }
  const compared = values.inSteps(within, (part) =>
    'from' in condition
      ? values.between(condition.from, condition.to, part)
      : values.compare(condition.comparison, condition.value, part),
  );
  return scope.budget.made(yield* compared, argument.at);
}

function* countComparison(scope: Scope, name: string, argument: Argument): Steps<number> {
  const values = valuesOf(scope, name, argument.at);
  const condition = conditionOf(argument);
  if (condition === 'not-null') {
    return values.columns.size;
  }
  const counted = values.isCounted || values.isSmall ? countOf(values, condition) : undefined;
  if (counted !== undefined) {
    return counted;
  }
  values.beginCounting();
  const columns = yield* comparison(scope, name, { argument });
  scope.budget.drop(columns);
  return columns.size;
}

/** How many columns fulfil a condition, from the sorted values where they are there. */
function countOf(values: BitSlices, condition: Exclude<Condition, 'not-null'>): number {
  if ('from' in condition) {
    return values.countBetween(condition.from, condition.to);
  }
  const { comparison: operator, value } = condition;
  switch (operator) {
    case '==':
      return values.countBetween(value, value);
    case '!=':
      return values.columns.size - values.countBetween(value, value);
    case '<':
      return values.countBetween(widest.from, add(value, -1));
    case '<=':
      return values.countBetween(widest.from, value);
    case '>':
      return values.countBetween(add(value, 1), widest.to);
    case '>=':
      return values.countBetween(value, widest.to);
  }
}

type Condition = 'not-null' | { from: Int; to: Int } | { comparison: Comparison; value: Int };

function conditionOf({ operator, value, at }: Argument): Condition {
  if (operator === 'between' || operator === '><') {
    const [from, to, ...more] = Array.isArray(value) ? (value as readonly Value[]) : [];
    if (!isInt(from) || !isInt(to) || more.length > 0) {
      throw new CallError('>< needs a list of two integers', at);
    }
    return { from, to };
  }
  if (value === null && operator === '!=') {
    return 'not-null';
  }
  if (!isInt(value)) {
    throw new CallError('an integer field is compared with an integer', at);
  }
  return { comparison: operator as Comparison, value };
}

/** `limit` and `offset` of lists. */
export const pageOf = (call: Call): { limit: number; offset: number } => ({
  limit: countArgument(call, 'limit') ?? Infinity,
  offset: countArgument(call, 'offset') ?? 0,
});
