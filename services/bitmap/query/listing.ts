import type { ColumnSet } from '../engine/column-set';
import type { Field } from '../engine/field';
import { standardView, viewsBetween } from '../engine/time-quantum';
import { View } from '../engine/view';
import { compare, type Int } from '../int';
import { itemsOfStep, pairsOfStep, rowsOfStep, sortedInSteps, type Steps } from '../steps';
import { averageExtent, costOfCombinations, extentOf } from '../threads/cost';
import { combinations } from '../threads/counting';
import { maxCombinations, maxSets } from '../threads/threads';
import { type Call, textOf } from './ast';
import { CallError } from './errors';
import type { Budget } from './limits';
import type { Group, Result } from './result';
import { evaluateRow, type Filter, filterOf, pageOf, timeOf } from './rows';
import { columnNamed, fieldOf, rowKey, rowNamed, type Scope } from './scope';

/** What a row takes in an answer, at least. */
const rowBytes = 12;
const bytesOf = (key: string | undefined): number => rowBytes + (key?.length ?? 0);

/** `Rows`: the rows of a field that have columns. */
export function* rows(scope: Scope, call: Call): Steps<Result> {
  const field = listedField(scope, call);
  const rowIds = yield* rowsOf(scope, field, call);
  const { budget } = scope;
  if (!field.options.keys) {
    budget.answerWith(rowIds.length * rowBytes, call.at);
    return { kind: 'rows', rows: rowIds };
  }
  const keys: string[] = [];
  for (const row of rowIds) {
    const key = rowKey(field, row) ?? '';
    budget.answerWith(bytesOf(key), call.at);
    keys.push(key);
    if (keys.length % itemsOfStep === 0) {
      yield;
    }
  }
  return { kind: 'rows', rows: rowIds, keys };
}

/** The field of `Rows(field)`, `Rows(field=field)`, `MinRow(field=field)`. */
function listedField(scope: Scope, call: Call): Field {
  const [given] = call.positional;
  const field = call.args.get('field');
  if (given && field) {
    throw new CallError(`${call.name} takes only one field`, field.at);
  }
  const name = textOf((given ?? field)?.value);
  if (name === undefined) {
    throw new CallError(`${call.name} needs a field`, call.at);
  }
  return fieldOf(scope, name, call.at);
}

function* rowsOf(scope: Scope, field: Field, call: Call): Steps<Int[]> {
  const { limit } = pageOf(call);
  const previous = call.args.get('previous');
  const after = previous && rowNamed(field, previous.value, previous.at);
  const columnGiven = call.args.get('column');
  const column = columnGiven && columnNamed(scope, columnGiven.value, columnGiven.at);
  // A key that was never used has no columns, and would come after all that were.
  if ((columnGiven && column === undefined) || (previous && after === undefined)) {
    return [];
  }
  const views = yield* listedViews(field, call);
  const holds = (columns: ColumnSet): boolean => {
    if (column !== undefined) {
      return columns.has(column) && (!scope.shards || scope.shards.has(column));
    }
    return scope.shards ? columns.countShared(scope.shards) > 0 : !columns.isEmpty;
  };
  const matched: Int[] = [];
  for (const [at, row] of (yield* sortedRowsOf(views)).entries()) {
    if (matched.length >= limit) {
      break;
    }
    if (after !== undefined && row <= after) {
      continue;
    }
    if (views.some((view) => holds(view.row(row)))) {
      matched.push(row);
    }
    if (at % rowsOfStep === rowsOfStep - 1) {
      yield;
    }
  }
  return matched;
}

/** The rows that any of the views has had, ascending. */
function* sortedRowsOf(views: readonly View[]): Steps<readonly Int[]> {
  const [only = new View(), second] = views;
  if (!second) {
    return yield* only.sortedRowsInSteps();
  }
  const ids = new Set<Int>();
  for (const view of views) {
    for (const row of [...view.rows.keys()]) {
      ids.add(row);
    }
    yield;
  }
  return yield* sortedInSteps([...ids], compare);
}

/** The views a `Rows` call is about: the one without time, or of a time field those of the stretch of time it names. */
function* listedViews(field: Field, call: Call): Steps<View[]> {
  const from = timeOf(call.args.get('from'), call.at);
  const to = timeOf(call.args.get('to'), call.at);
  const { type, timeQuantum = '', noStandardView } = field.options;
  const isTimed = type === 'time' && (from !== undefined || to !== undefined || noStandardView === true);
  const names = isTimed
    ? yield* viewsBetween(field.views.keys(), timeQuantum, { from: from ?? -Infinity, to: to ?? Infinity })
    : [standardView];
  return names.flatMap((name) => field.views.get(name) ?? []);
}

type GroupPage = ReturnType<typeof pageOf>;

interface Level {
  field: Field;
  rows: readonly Int[];
}

/** `GroupBy`: how many columns each combination of rows has in common. From other threads where it takes long. */
export function* groupBy(scope: Scope, call: Call): Steps<Result | Promise<Result>> {
  const wrong = call.children.find(({ name }) => name !== 'Rows');
  if (wrong) {
    throw new CallError('GroupBy takes only Rows', wrong.at);
  }
  if (call.children.length === 0) {
    throw new CallError('GroupBy needs at least one Rows', call.at);
  }
  const { limits } = scope.budget;
  if (call.children.length > limits.levels) {
    throw new CallError(`GroupBy takes at most ${limits.levels} Rows`, call.at);
  }
  const page = pageOf(call);
  const filter = call.args.get('filter');
  if (filter && (typeof filter.value !== 'object' || filter.value === null || !('children' in filter.value))) {
    throw new CallError('filter must be a row', filter.at);
  }
  const within = yield* filterOf(scope, filter && (filter.value as Call));
  const levels: Level[] = [];
  for (const child of call.children) {
    const field = listedField(scope, child);
    levels.push({ field, rows: yield* rowsOf(scope, field, child) });
  }
  const groups = new Groups(page, scope.budget, call);
  const elsewhere = groupElsewhere(scope, levels, { within, page, groups });
  if (elsewhere) {
    return elsewhere.then((): Result => ({ kind: 'groups', groups: groups.found }));
  }
  yield* groupHere(levels, { budget: scope.budget, groups, at: call.at }, within && (yield* within.columns()));
  return { kind: 'groups', groups: groups.found };
}

/** Collects groups from `offset` on, up to `limit`. */
class Groups {
  readonly found: Group[] = [];
  private passed = 0;

  constructor(
    private readonly page: GroupPage,
    private readonly budget: Budget,
    private readonly call: Call,
  ) {}

  /** Whether there are enough. */
  get isFull(): boolean {
    return this.found.length >= this.page.limit;
  }

  /** @throws CallError for more groups than a query may have */
  add(rows: () => Group['rows'], count: number): void {
    if (count === 0 || this.passed++ < this.page.offset) {
      return;
    }
    const { at } = this.call;
    const { groups } = this.budget.limits;
    if (this.found.length >= groups) {
      throw new CallError(`GroupBy has more than ${groups} groups; ask for a part of them with limit and offset`, at);
    }
    const members = rows();
    this.found.push({ rows: members, count });
    this.budget.answerWith(
      members.reduce((bytes, { field, key }) => bytes + 2 * rowBytes + field.length + bytesOf(key), rowBytes),
      at,
    );
  }
}

const member = (field: Field, row: Int): Group['rows'][number] => ({ field: field.name, row, key: rowKey(field, row) });

/** The rest of a level's combinations with `columns`; nothing of them for a level that is not there. */
function* groupHere(
  levels: readonly Level[],
  { budget, groups, at }: { budget: Budget; groups: Groups; at: number },
  filter: ColumnSet | undefined,
): Steps<void> {
  let compared = 0;
  function* descend(level: number, columns: ColumnSet | undefined, chosen: Group['rows']): Steps<void> {
    const { field, rows: candidates } = levels[level] ?? { rows: [] };
    for (const row of field ? candidates : []) {
      if (groups.isFull || !field) {
        return;
      }
      const own = field.row(row);
      if (level === levels.length - 1) {
        groups.add(() => [...chosen, member(field, row)], columns ? columns.countShared(own) : own.size);
      } else {
        const common = columns ? budget.made(columns.and(own), at) : own;
        if (!common.isEmpty) {
          yield* descend(level + 1, common, [...chosen, member(field, row)]);
        }
        budget.drop(common);
      }
      compared += 1;
      if (compared % pairsOfStep === 0) {
        yield;
      }
    }
  }
  yield* descend(0, filter, []);
}

/** The cost of fewer combinations is not estimated. */
const fewCombinations = 16;

/** The same, counted by other threads into `groups`; undefined where it is not worth it. */
function groupElsewhere(
  { threads, until }: Scope,
  levels: readonly Level[],
  { within, page, groups }: { within: Filter | undefined; page: GroupPage; groups: Groups },
): Promise<void> | undefined {
  const all = combinations(levels.map(({ rows: listed }) => listed));
  const inspected = Math.min(all, page.limit + page.offset);
  const sum = levels.reduce((total, { rows: listed }) => total + listed.length, 0);
  if (!threads || inspected < fewCombinations || all > maxCombinations || sum > maxSets) {
    return undefined;
  }
  const sets = levels.map(({ field, rows: listed }) => listed.map((row) => field.row(row)));
  const costMs = costOfCombinations(inspected, [
    ...sets.map(averageExtent),
    ...(within ? [extentOf(within.plan)] : []),
  ]);
  return threads.count({ filter: within?.plan, levels: sets, costMs, until }, async (count) => {
    const { counts } = await count();
    for (let place = 0; place < counts.length && !groups.isFull; place += 1) {
      groups.add(() => combination(levels, place), counts[place] ?? 0);
    }
  });
}

/** The combination whose count has this position. */
function combination(levels: readonly Level[], place: number): Group['rows'] {
  const chosen: Group['rows'][number][] = [];
  let rest = place;
  for (const { field, rows: listed } of [...levels].reverse()) {
    chosen.unshift(member(field, listed[rest % listed.length] ?? 0));
    rest = Math.floor(rest / listed.length);
  }
  return chosen;
}

/** `MinRow` and `MaxRow`: the first or last row that has columns, of those in a row when one is given. */
export function* extremeRow(scope: Scope, call: Call, from: 'start' | 'end'): Steps<Result> {
  const field = listedField(scope, call);
  const [filter] = call.children;
  const columns = filter ? yield* evaluateRow(scope, filter) : scope.shards;
  const ids = yield* (field.views.get(standardView) ?? new View()).sortedRowsInSteps();
  for (let at = 0; at < ids.length; at += 1) {
    const row = ids[from === 'start' ? at : ids.length - 1 - at] ?? 0;
    const own = field.row(row);
    const count = columns ? own.countShared(columns) : own.size;
    if (count > 0) {
      return { kind: 'pair', pair: { row, key: rowKey(field, row), count } };
    }
    if (at % rowsOfStep === 0) {
      yield;
    }
  }
  return { kind: 'pair', pair: { row: 0, count: 0 } };
}
