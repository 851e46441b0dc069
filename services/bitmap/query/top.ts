import { type AttributeValue, isFraction } from '../engine/attributes';
import type { ColumnSet } from '../engine/column-set';
import type { Field } from '../engine/field';
import { byCount, type RankedRow } from '../engine/row-ranks';
import { type Int, isInt } from '../int';
import { itemsOfStep, pairsOfStep, rowsOfStep, sortedInSteps, type Steps } from '../steps';
import { costOfSet, costOfShared, extentOf, maxCostOfShared } from '../threads/cost';
import type { SetPlan } from '../threads/set-plan';
import { type Call, isWord, textOf, type Value } from './ast';
import { CallError } from './errors';
import type { Pair, Result } from './result';
import { filterOf } from './rows';
import { countArgument, fieldOf, rowKey, type Scope } from './scope';

/**
 * `TopN`: the rows of a field with most columns, or with most columns in common with a row. The latter from other threads
 * where it takes long.
 */
export function* top(scope: Scope, call: Call): Steps<Result | Promise<Result>> {
  const [fieldArgument] = call.positional;
  const name = textOf(fieldArgument?.value);
  if (!name || !isWord(fieldArgument?.value)) {
    throw new CallError('TopN needs a field', call.at);
  }
  const field = fieldOf(scope, name, call.at);
  if (!field.ranks) {
    throw new CallError(`TopN is not for ${field.options.type} fields`, call.at);
  }
  const [filter] = call.children;
  const limit = countArgument(call, 'n') ?? 0;
  const ids = rowIds(call);
  const candidates = ids ? yield* exactly(field, ids) : yield* field.ranks.rows();
  const eligible = yield* filtered(candidates, attributeFilter(field, call));
  const least = Math.max(countArgument(call, 'threshold') ?? 1, 1);
  const similarity = similarityThreshold(call);
  // Rows that are asked for by id are all returned.
  const most = ids || limit === 0 ? Infinity : limit;

  const within = yield* filterOf(scope, filter);
  const respond = (rows: readonly RankedRow[]): Result => pairs(scope, call, { field, rows });
  if (!within) {
    return respond((yield* filtered(eligible, ({ count }) => count >= least)).slice(0, most));
  }
  const search: Search = { field, candidates: eligible, least, most, similarity: filter && similarity };
  const elsewhere = searchElsewhere(scope, search, within.plan);
  if (elsewhere) {
    return elsewhere.then(respond);
  }
  const columns = yield* within.columns();
  const rows = yield* searchHere(search, columns);
  scope.budget.drop(columns);
  return respond(rows);
}

function* filtered(rows: readonly RankedRow[], fits: (row: RankedRow) => boolean): Steps<RankedRow[]> {
  const fitting: RankedRow[] = [];
  for (const [at, row] of rows.entries()) {
    if (fits(row)) {
      fitting.push(row);
    }
    if (at % itemsOfStep === itemsOfStep - 1) {
      yield;
    }
  }
  return fitting;
}

interface Search {
  field: Field;
  /** With most columns first. */
  candidates: readonly RankedRow[];
  /** Columns in common that a row must have to be returned. */
  least: number;
  /** How many rows are returned. */
  most: number;
  /** Returns the rows that are more similar than so many percent instead. */
  similarity: number | undefined;
}

/** What a row with its count takes in an answer, at least. */
const pairBytes = 24;

/** @throws CallError when they are too large for an answer */
function pairs({ budget }: Scope, { at }: Call, { field, rows }: { field: Field; rows: readonly RankedRow[] }): Result {
  return {
    kind: 'pairs',
    pairs: rows.map(({ row, count }): Pair => {
      const key = rowKey(field, row);
      budget.answerWith(pairBytes + (key?.length ?? 0), at);
      return { row, key, count };
    }),
  };
}

/** What these rows count now, whether or not the cache knows them. */
function* exactly(field: Field, ids: readonly Int[]): Steps<RankedRow[]> {
  const rows: RankedRow[] = [];
  for (const row of new Set(ids)) {
    const count = field.row(row).size;
    if (count > 0) {
      rows.push({ row, count });
    }
    if (rows.length % rowsOfStep === 0) {
      yield;
    }
  }
  return yield* sortedInSteps(rows, byCount);
}

function* searchHere(search: Search, columns: ColumnSet): Steps<RankedRow[]> {
  const { field, candidates, similarity } = search;
  const { size } = columns;
  const countShared = field.overlaps.with(columns, candidates.length);
  const best = new Best(search);
  const counts: { own: number; shared: number }[] = [];
  for (const [at, { row, count: total }] of candidates.entries()) {
    if (similarity === undefined && best.isOver(Math.min(size, total))) {
      break;
    }
    const own = field.row(row);
    const shared = countShared(row, own);
    if (similarity === undefined) {
      best.offer(row, shared);
    } else {
      counts.push({ own: own.size, shared });
    }
    if (at % pairsOfStep === 0) {
      yield;
    }
  }
  if (similarity === undefined) {
    return best.end();
  }
  return similarRows(search, { percent: similarity, size }, (_candidate, at) => counts[at] ?? { own: 0, shared: 0 });
}

/** So many rows are counted elsewhere at first; then twice as many each time, while the search is not over. */
const firstRows = 256;

/**
 * The same, counted by other threads: undefined where it is not worth it. What is remembered is not counted, and what is
 * counted is remembered.
 */
function searchElsewhere(
  { threads, until }: Scope,
  search: Search,
  filter: SetPlan<ColumnSet>,
): Promise<RankedRow[]> | undefined {
  const { field, candidates, similarity } = search;
  const extent = threads && extentOf(filter);
  if (!extent || !threads.isHeavy(maxCostOfShared(extent, candidates.length) + costOfSet(filter))) {
    return undefined;
  }
  const recollection = 'leaf' in filter ? field.overlaps.recall(filter.leaf) : undefined;
  let costMs = costOfSet(filter);
  for (const { row, count } of candidates) {
    if (recollection?.of(row, field.row(row)) === undefined) {
      costMs += costOfShared(extent, count);
    }
  }
  if (!threads.isHeavy(costMs)) {
    return undefined;
  }
  const rows = candidates.map(({ row, count }) => {
    const own = field.row(row);
    return { row, count, own, version: own.version, size: own.size, shared: recollection?.of(row, own) };
  });
  const unknown = rows.filter(({ shared }) => shared === undefined);
  const levels = [unknown.map(({ own }) => own)];
  return threads.count({ filter, levels, costMs, until }, async (count) => {
    let counted = 0;
    let size = Infinity;
    const countMore = async (most: number): Promise<void> => {
      const some = unknown.slice(counted, counted + most);
      const counts = await count(counted, counted + some.length);
      ({ size } = counts);
      for (const [at, one] of some.entries()) {
        one.shared = counts.counts[at] ?? 0;
        recollection?.add(one.row, one.own, { version: one.version, count: one.shared });
      }
      counted += some.length;
    };
    if (similarity !== undefined) {
      await countMore(Infinity);
      return similarRows(search, { percent: similarity, size }, (_candidate, at) => {
        const { size: own = 0, shared = 0 } = rows[at] ?? {};
        return { own, shared };
      });
    }
    const best = new Best(search);
    for (const one of rows) {
      if (best.isOver(Math.min(size, one.count))) {
        break;
      }
      if (one.shared === undefined) {
        await countMore(Math.max(firstRows, counted));
      }
      best.offer(one.row, one.shared ?? 0);
    }
    return best.end();
  });
}

/**
 * Collects the rows with most columns in common. The candidates come with most columns first, so that the search is over
 * as soon as the next one has fewer than the last that would be returned has in common.
 */
class Best {
  private readonly rows: RankedRow[] = [];
  private readonly most: number;
  private bar: number;

  constructor({ least, most }: Search) {
    this.bar = least;
    this.most = most;
  }

  /** Whether neither a row with so many columns nor any after it can be among the best. */
  isOver(total: number): boolean {
    return total < this.bar;
  }

  offer(row: Int, count: number): void {
    if (count < this.bar) {
      return;
    }
    const { rows, most } = this;
    rows.push({ row, count });
    if (rows.length === most || rows.length >= 2 * most) {
      this.retainBest();
    }
  }

  end(): RankedRow[] {
    this.retainBest();
    return this.rows;
  }

  /** Sorts, and drops what is too much; less than the last one has cannot be among the best any more. */
  private retainBest(): void {
    const { rows, most } = this;
    rows.sort(byCount);
    if (rows.length < most) {
      return;
    }
    rows.length = Math.min(rows.length, most);
    this.bar = Math.max(this.bar, rows.at(-1)?.count ?? 0);
  }
}

/**
 * The rows that are more similar to a set of `size` columns than `percent`, by their Tanimoto coefficient in whole percents,
 * rounded up.
 */
function similarRows(
  { candidates, most }: Search,
  { percent, size }: { percent: number; size: number },
  counted: (candidate: RankedRow, at: number) => { own: number; shared: number },
): RankedRow[] {
  const similar = candidates.flatMap((candidate, at) => {
    const { own, shared } = counted(candidate, at);
    const coefficient = Math.ceil((shared * 100) / (own + size - shared));
    return shared > 0 && coefficient > percent ? [{ row: candidate.row, count: shared }] : [];
  });
  return similar.sort(byCount).slice(0, most);
}

function similarityThreshold(call: Call): number | undefined {
  const percent = countArgument(call, 'tanimotoThreshold');
  if (percent !== undefined && percent > 100) {
    throw new CallError('tanimotoThreshold is from 1 to 100', call.at);
  }
  return percent === 0 ? undefined : percent;
}

function rowIds(call: Call): readonly Int[] | undefined {
  const ids = call.args.get('ids');
  if (!ids) {
    return undefined;
  }
  const list = Array.isArray(ids.value) ? (ids.value as readonly Value[]) : undefined;
  if (!list?.every((id): id is Int => isInt(id) && id >= 0)) {
    throw new CallError('ids must be a list of rows', ids.at);
  }
  return list.length > 0 ? list : undefined;
}

/** `attrName` and `attrValues`: only rows whose attribute has one of these values. */
function attributeFilter(field: Field, call: Call): (candidate: RankedRow) => boolean {
  const attribute = call.args.get('attrName');
  const name = textOf(attribute?.value);
  if (attribute && name === undefined) {
    throw new CallError('attrName must be the name of an attribute', attribute.at);
  }
  const values = call.args.get('attrValues');
  if (!attribute && values) {
    throw new CallError('attrValues needs attrName', values.at);
  }
  if (name === undefined || !values) {
    return () => true;
  }
  if (!Array.isArray(values.value)) {
    throw new CallError('attrValues must be a list', values.at);
  }
  const accepted = new Set((values.value as readonly Value[]).map(comparable));
  if (accepted.size === 0) {
    return () => true;
  }
  return ({ row }) => {
    const value = field.attributes.value(row, name);
    return value !== undefined && accepted.has(comparable(value));
  };
}

/** Something that is equal for equal values and different for a text and the number it spells. */
const comparable = (value: Value | AttributeValue): unknown =>
  isFraction(value) ? value.fraction : typeof value === 'string' || isWord(value) ? `"${textOf(value) ?? ''}` : value;
