import type { ColumnSet } from '../engine/column-set';
import type { Field } from '../engine/field';
import { standardView, viewsBetween } from '../engine/time-quantum';
import type { Int } from '../int';
import { averageExtent, costOfCombinations, extentOf } from '../threads/cost';
import { combinations } from '../threads/counting';
import { type Call, textOf } from './ast';
import { CallError } from './errors';
import type { Group, Result } from './result';
import { evaluateRow, type Filter, filterOf, pageOf, timeOf } from './rows';
import { columnNamed, fieldOf, rowKey, rowNamed, type Scope } from './scope';

/** `Rows`: the rows of a field that have columns. */
export function rows(scope: Scope, call: Call): Result {
  const field = listedField(scope, call);
  const rowIds = [...rowsOf(scope, field, call)];
  if (!field.options.keys) {
    return { kind: 'rows', rows: rowIds };
  }
  return { kind: 'rows', rows: rowIds, keys: rowIds.map((row) => rowKey(field, row) ?? '') };
}

/** The field of `Rows(field)`, `Rows(field=field)`, `MinRow(field=field)`. */
function listedField(scope: Scope, call: Call): Field {
  const name = textOf(call.positional[0]?.value ?? call.args.get('field')?.value);
  if (name === undefined) {
    throw new CallError(`${call.name} needs a field`, call.at);
  }
  return fieldOf(scope, name, call.at);
}

function* rowsOf(scope: Scope, field: Field, call: Call): Generator<Int> {
  const { limit } = pageOf(call);
  const previous = call.args.get('previous');
  const after = previous && rowNamed(field, previous.value, previous.at);
  const columnGiven = call.args.get('column');
  const column = columnGiven && columnNamed(scope, columnGiven.value, columnGiven.at);
  if (columnGiven && column === undefined) {
    return;
  }
  const views = listedViews(field, call);
  const ids = new Set(views.flatMap((view) => view.sortedRows()));
  const sorted = views.length === 1 ? ids : [...ids].sort((a, b) => (a < b ? -1 : 1));
  let matched = 0;
  for (const row of sorted) {
    if (matched >= limit) {
      return;
    }
    if (after !== undefined && row <= after) {
      continue;
    }
    const holds = (columns: ColumnSet): boolean => {
      if (column !== undefined) {
        return columns.has(column) && (!scope.shards || scope.shards.has(column));
      }
      return scope.shards ? columns.countShared(scope.shards) > 0 : !columns.isEmpty;
    };
    if (!views.some((view) => holds(view.row(row)))) {
      continue;
    }
    matched += 1;
    yield row;
  }
}

/** The views a `Rows` call is about: the one without time, or of a time field those of the stretch of time it names. */
function listedViews(field: Field, call: Call) {
  const from = timeOf(call.args.get('from'), call.at);
  const to = timeOf(call.args.get('to'), call.at);
  const { type, timeQuantum = '', noStandardView } = field.options;
  const isTimed = type === 'time' && (from !== undefined || to !== undefined || noStandardView === true);
  const names = isTimed
    ? viewsBetween(field.views.keys(), timeQuantum, { from: from ?? -Infinity, to: to ?? Infinity })
    : [standardView];
  return names.flatMap((name) => field.views.get(name) ?? []);
}

type GroupPage = ReturnType<typeof pageOf>;

interface Level {
  field: Field;
  rows: readonly Int[];
}

/** `GroupBy`: how many columns each combination of rows has in common. From other threads where it takes long. */
export function groupBy(scope: Scope, call: Call): Result | Promise<Result> {
  const wrong = call.children.find(({ name }) => name !== 'Rows');
  if (wrong) {
    throw new CallError('GroupBy takes only Rows', wrong.at);
  }
  if (call.children.length === 0) {
    throw new CallError('GroupBy needs at least one Rows', call.at);
  }
  const page = pageOf(call);
  const filter = call.args.get('filter');
  if (filter && (typeof filter.value !== 'object' || filter.value === null || !('children' in filter.value))) {
    throw new CallError('filter must be a row', filter.at);
  }
  const within = filterOf(scope, filter && (filter.value as Call));
  const levels = call.children.map((child): Level => {
    const field = listedField(scope, child);
    return { field, rows: [...rowsOf(scope, field, child)] };
  });
  const elsewhere = groupElsewhere(scope, levels, { within, page });
  const groups = elsewhere ?? groupHere(levels, within?.columns(), page);
  return groups instanceof Promise
    ? groups.then((counted) => ({ kind: 'groups', groups: counted }))
    : { kind: 'groups', groups };
}

/** Collects groups from `offset` on, up to `limit`. */
class Groups {
  readonly found: Group[] = [];
  private passed = 0;

  constructor(private readonly page: GroupPage) {}

  /** Whether there are enough. */
  get isFull(): boolean {
    return this.found.length >= this.page.limit;
  }

  add(rows: () => Group['rows'], count: number): void {
    if (count > 0 && this.passed++ >= this.page.offset) {
      this.found.push({ rows: rows(), count });
    }
  }
}

const member = (field: Field, row: Int): Group['rows'][number] => ({ field: field.name, row, key: rowKey(field, row) });

function groupHere(levels: readonly Level[], filter: ColumnSet | undefined, page: GroupPage): readonly Group[] {
  const groups = new Groups(page);
  /** Returns false when there are enough. */
  const descend = (level: number, columns: ColumnSet | undefined, chosen: Group['rows']): boolean => {
    const { field, rows: candidates } = levels[level] ?? { rows: [] };
    for (const row of candidates) {
      if (!field) {
        return true;
      }
      const own = field.row(row);
      if (level < levels.length - 1) {
        const common = columns ? columns.and(own) : own;
        if (!common.isEmpty && !descend(level + 1, common, [...chosen, member(field, row)])) {
          return false;
        }
        continue;
      }
      if (groups.isFull) {
        return false;
      }
      groups.add(() => [...chosen, member(field, row)], columns ? columns.countShared(own) : own.size);
    }
    return !groups.isFull;
  };
  descend(0, filter, []);
  return groups.found;
}

/** The cost of fewer combinations is not estimated. */
const fewCombinations = 16;

/** The same, counted by other threads; undefined where it is not worth it. */
function groupElsewhere(
  { threads }: Scope,
  levels: readonly Level[],
  { within, page }: { within: Filter | undefined; page: GroupPage },
): Promise<readonly Group[]> | undefined {
  const all = combinations(levels.map(({ rows: listed }) => listed));
  const inspected = Math.min(all, page.limit + page.offset);
  if (!threads || inspected < fewCombinations) {
    return undefined;
  }
  const sets = levels.map(({ field, rows: listed }) => listed.map((row) => field.row(row)));
  const costMs = costOfCombinations(inspected, [
    ...sets.map(averageExtent),
    ...(within ? [extentOf(within.plan)] : []),
  ]);
  return threads.count({ filter: within?.plan, levels: sets, costMs }, async (count) => {
    const { counts } = await count();
    const groups = new Groups(page);
    for (let place = 0; place < counts.length && !groups.isFull; place += 1) {
      groups.add(() => combination(levels, place), counts[place] ?? 0);
    }
    return groups.found;
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
export function extremeRow(scope: Scope, call: Call, from: 'start' | 'end'): Result {
  const field = listedField(scope, call);
  const [filter] = call.children;
  const columns = filter ? evaluateRow(scope, filter) : scope.shards;
  const ids = field.views.get(standardView)?.sortedRows() ?? [];
  for (const row of from === 'start' ? ids : [...ids].reverse()) {
    const own = field.row(row);
    const count = columns ? own.countShared(columns) : own.size;
    if (count > 0) {
      return { kind: 'pair', pair: { row, key: rowKey(field, row), count } };
    }
  }
  return { kind: 'pair', pair: { row: 0, count: 0 } };
}
