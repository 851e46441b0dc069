import { type BitSlices, type Comparison, widest } from '../engine/bit-slices';
import { ColumnSet, noColumns } from '../engine/column-set';
import { type Minutes, parseTime } from '../engine/time-quantum';
import { add, type Int, isInt } from '../int';
import { costOfSet } from '../threads/cost';
import type { SetOperation, SetPlan } from '../threads/set-plan';
import { type Argument, type Call, textOf, type Value } from './ast';
import { CallError } from './errors';
import { countArgument, fieldArgument, fieldOf, rowNamed, type Scope } from './scope';

/** Evaluates one kind of call to columns. `within`: only these columns matter; others may be in the answer or not. */
type RowCall = (scope: Scope, call: Call, within?: ColumnSet) => ColumnSet;

const minutesOfDay = 24 * 60;

const rowCalls: Record<string, RowCall> = {
  Row: rowLookup,
  Range: rowLookup,
  Union: (scope, call, within) => ColumnSet.union(evaluateChildren(scope, call, within)),
  Intersect: (scope, call, within) => intersection(scope, atLeastOne(call), within),
  Difference: (scope, call, within) => {
    const [first = noColumns, ...rest] = evaluateChildren(scope, atLeastOneOf(call), within);
    return rest.reduce((left, right) => left.andNot(right), first);
  },
  Xor: (scope, call, within) =>
    evaluateChildren(scope, call, within).reduce((left, right) => left.xor(right), noColumns),
  Not: (scope, call, within) => {
    const { index } = scope;
    if (!index.options.trackExistence) {
      throw new CallError(`Not needs an index that tracks which columns exist, and ${index.name} does not`, call.at);
    }
    const child = onlyChild(call);
    return visible(scope, index.existing).andNot(evaluateRow(scope, child, within));
  },
  Shift: (scope, call) => {
    const by = call.args.get('n')?.value ?? 0;
    if (!isInt(by) || by < 0) {
      throw new CallError('n must be a number that is not negative', call.at);
    }
    const row = evaluateRow(scope, onlyChild(call));
    return by === 0 ? row : visible(scope, row.shift(by));
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
export function evaluateRow(scope: Scope, call: Call, within?: ColumnSet): ColumnSet {
  const evaluate = Object.hasOwn(rowCalls, call.name) ? rowCalls[call.name] : undefined;
  if (!evaluate) {
    throw new CallError(`${call.name} is not a row`, call.at);
  }
  return evaluate(scope, call, within);
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
  columns: () => ColumnSet;
}

/**
 * The columns of a call, or of the shards that reads are limited to when there is none; undefined for all. Stored rows are
 * left as they are, for others to know again.
 *
 * @throws CallError
 */
export function filterOf(scope: Scope, call: Call | undefined): Filter | undefined {
  const { shards } = scope;
  if (!call) {
    return shards && { plan: { leaf: shards }, columns: () => shards };
  }
  const plan = planRow(scope, call);
  return { plan, columns: () => ('leaf' in plan ? plan.leaf : evaluateRow(scope, call)) };
}

function planRow(scope: Scope, call: Call): SetPlan<ColumnSet> {
  if (!isOfRows(call)) {
    return { leaf: evaluateRow(scope, call) };
  }
  const { shards } = scope;
  if (!shards) {
    return planOfRows(scope, call);
  }
  const everywhere = planOfRows({ ...scope, shards: undefined }, call);
  return { operation: 'intersect', of: [everywhere, { leaf: shards }] };
}

function planOfRows(scope: Scope, call: Call): SetPlan<ColumnSet> {
  const operation = setOperations[call.name];
  if (!isSetOperation(call) || !operation) {
    return { leaf: evaluateRow(scope, call) };
  }
  const { children } = operation === 'intersect' || operation === 'difference' ? atLeastOneOf(call) : call;
  return { operation, of: children.map((child) => planOfRows(scope, child)) };
}

/** How many columns a call stands for, from other threads where it takes long. */
export function countRow(scope: Scope, call: Call): number | Promise<number> {
  const { threads } = scope;
  if (threads && isSetOperation(call) && isOfRows(call)) {
    const filter = planRow(scope, call);
    const asked = { filter, levels: [], costMs: costOfSet(filter) };
    const counted = threads.count(asked, async (count) => (await count()).size);
    if (counted) {
      return counted;
    }
  }
  return countRowHere(scope, call);
}

/** How many columns a call stands for, without building them where that can be avoided. */
function countRowHere(scope: Scope, call: Call): number {
  if (call.name === 'Intersect' && call.children.length > 1) {
    const [last, ...others] = cheapestFirst(call.children).reverse();
    const left = intersection(scope, others.reverse());
    return last ? left.countShared(evaluateRow(scope, last, left)) : left.size;
  }
  const condition = call.name === 'Row' || call.name === 'Range' ? comparisonOf(call) : undefined;
  if (condition && !scope.shards) {
    return countComparison(scope, condition.name, condition.argument);
  }
  return evaluateRow(scope, call).size;
}

/** The one child that `Count` and `Not` take. */
export function onlyChild(call: Call): Call {
  const [child, second] = call.children;
  if (!child) {
    throw new CallError(`${call.name} needs a row`, call.at);
  }
  if (second) {
    throw new CallError(`${call.name} takes only one row`, second.at);
  }
  return child;
}

const visible = ({ shards }: Scope, columns: ColumnSet): ColumnSet => (shards ? columns.and(shards) : columns);

const evaluateChildren = (scope: Scope, { children }: Pick<Call, 'children'>, within?: ColumnSet): ColumnSet[] =>
  children.map((child) => evaluateRow(scope, child, within));

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

function intersection(scope: Scope, calls: readonly Call[], within?: ColumnSet): ColumnSet {
  let left: ColumnSet | undefined;
  for (const call of cheapestFirst(calls)) {
    const right = evaluateRow(scope, call, left ?? within);
    left = left ? left.and(right) : right;
  }
  return left ?? noColumns;
}

/** The condition of a call on an integer field, if it has one. */
function comparisonOf(call: Call): { name: string; argument: Argument } | undefined {
  const condition = [...call.args].find(([, { operator }]) => operator !== '=');
  if (!condition) {
    return undefined;
  }
  const { name, argument } = fieldArgument(call);
  return { name, argument };
}

function rowLookup(scope: Scope, call: Call, within?: ColumnSet): ColumnSet {
  const condition = comparisonOf(call);
  if (condition) {
    return visible(scope, comparison(scope, condition.name, { argument: condition.argument, within }));
  }
  const { name, argument } = fieldArgument(call);
  const field = fieldOf(scope, name, argument.at);
  if (field.values) {
    idOrNothing(argument);
    return noColumns;
  }
  const times = timesOf(call, scope.now);
  const row = rowNamed(field, argument.value, argument.at);
  if (row === undefined) {
    return noColumns;
  }
  return visible(scope, times ? field.rowBetween(row, times.from, times.to) : field.row(row));
}

/** `Row(field = value)` on an integer field is no comparison (that is `==`) and finds nothing. */
function idOrNothing({ value, at }: Argument): void {
  if (!isInt(value)) {
    throw new CallError('an integer field is compared with an integer', at);
  }
}

/** The time range of a call, as named arguments or in order; undefined when it has none. */
function timesOf(call: Call, now: () => Minutes): { from: Minutes; to: Minutes } | undefined {
  const from = timeOf(call.args.get('from') ?? call.positional[0], call.at);
  const to = timeOf(call.args.get('to') ?? call.positional[1], call.at);
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

function comparison(
  scope: Scope,
  name: string,
  { argument, within }: { argument: Argument; within?: ColumnSet },
): ColumnSet {
  const values = valuesOf(scope, name, argument.at);
  const condition = conditionOf(argument);
  if (condition === 'not-null') {
    return values.columns;
  }
  if ('from' in condition) {
    return values.between(condition.from, condition.to, within);
  }
  return values.compare(condition.comparison, condition.value, within);
}

function countComparison(scope: Scope, name: string, argument: Argument): number {
  const values = valuesOf(scope, name, argument.at);
  const condition = conditionOf(argument);
  if (condition === 'not-null') {
    return values.columns.size;
  }
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
