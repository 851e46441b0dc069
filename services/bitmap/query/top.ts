import type { ColumnSet } from '../engine/column-set';
import type { Field } from '../engine/field';
import { byCount, type RankedRow } from '../engine/row-ranks';
import { isFraction, type AttributeValue } from '../engine/attributes';
import { isInt, type Int } from '../int';
import { isWord, textOf, type Call, type Value } from './ast';
import { CallError } from './errors';
import type { Pair, Result } from './result';
import { evaluateRow } from './rows';
import { countArgument, fieldOf, rowKey, type Scope } from './scope';

/** `TopN`: the rows of a field with most columns, or with most columns in common with a row. */
export function top(scope: Scope, call: Call): Result {
  const [named] = call.positional;
  const name = textOf(named?.value);
  if (!name || !isWord(named?.value)) throw new CallError('TopN needs a field', call.at);
  const field = fieldOf(scope, name, call.at);
  if (!field.ranks) throw new CallError(`TopN is not for ${field.options.type} fields`, call.at);
  const [filter, second] = call.children;
  if (second) throw new CallError('TopN takes only one row', second.at);

  const limit = countArgument(call, 'n') ?? 0;
  const ids = rowIds(call);
  const candidates = ids ? exactly(field, ids) : field.ranks.rows();
  const wanted = candidates.filter(attributeFilter(field, call));
  const least = Math.max(countArgument(call, 'threshold') ?? 1, 1);
  const similarity = similarityThreshold(call);
  // Rows that are asked for by id are all answered.
  const most = ids || limit === 0 ? Infinity : limit;

  const columns = filter ? evaluateRow(scope, filter) : scope.shards;
  if (!columns) return pairs(field, wanted.filter(({ count }) => count >= least).slice(0, most));
  if (similarity !== undefined && filter)
    return pairs(field, similarRows(field, wanted, columns, similarity).slice(0, most));
  return pairs(field, mostShared(field, wanted, columns, least, most));
}

const pairs = (field: Field, rows: readonly RankedRow[]): Result => ({
  kind: 'pairs',
  pairs: rows.map(({ row, count }): Pair => ({ row, key: rowKey(field, row), count })),
});

/** What these rows count now, whether or not the cache knows them. */
function exactly(field: Field, ids: readonly Int[]): RankedRow[] {
  const rows = [...new Set(ids)].map((row) => ({ row, count: field.row(row).size }));
  return rows.filter(({ count }) => count > 0).sort(byCount);
}

/**
 * The rows with most columns in common with `columns`. The candidates come with most columns first, so that the search is
 * over as soon as the next one has fewer than the last that would be answered has in common.
 */
function mostShared(
  field: Field,
  candidates: readonly RankedRow[],
  columns: ColumnSet,
  least: number,
  most: number,
): RankedRow[] {
  const best: RankedRow[] = [];
  const size = columns.size;
  const countShared = field.overlaps.with(columns, candidates.length);
  let bar = least;
  for (const { row, count: total } of candidates) {
    if (size < bar || total < bar) break;
    const count = countShared(row, field.row(row));
    if (count < bar) continue;
    best.push({ row, count });
    if (best.length === most || best.length >= 2 * most) bar = keepBest(best, most, bar);
  }
  keepBest(best, most, bar);
  return best;
}

/** Sorts, drops what is too much, and answers what the last one has: less cannot be among the best any more. */
function keepBest(rows: RankedRow[], most: number, bar: number): number {
  rows.sort(byCount);
  if (rows.length < most) return bar;
  rows.length = Math.min(rows.length, most);
  return Math.max(bar, rows.at(-1)?.count ?? 0);
}

/** The rows that are more similar to `columns` than `percent`, by their Tanimoto coefficient in whole percents, rounded up. */
function similarRows(field: Field, candidates: readonly RankedRow[], columns: ColumnSet, percent: number): RankedRow[] {
  const size = columns.size;
  const countShared = field.overlaps.with(columns, candidates.length);
  const similar = candidates.flatMap(({ row }) => {
    const own = field.row(row);
    const count = countShared(row, own);
    const coefficient = Math.ceil((count * 100) / (own.size + size - count));
    return count > 0 && coefficient > percent ? [{ row, count }] : [];
  });
  return similar.sort(byCount);
}

function similarityThreshold(call: Call): number | undefined {
  const percent = countArgument(call, 'tanimotoThreshold');
  if (percent !== undefined && percent > 100) throw new CallError('tanimotoThreshold is from 1 to 100', call.at);
  return percent === 0 ? undefined : percent;
}

function rowIds(call: Call): readonly Int[] | undefined {
  const ids = call.args.get('ids');
  if (!ids) return undefined;
  const list = Array.isArray(ids.value) ? (ids.value as readonly Value[]) : undefined;
  if (!list?.every((id): id is Int => isInt(id) && id >= 0)) throw new CallError('ids must be a list of rows', ids.at);
  return list.length > 0 ? list : undefined;
}

/** `attrName` and `attrValues`: only rows whose attribute has one of these values. */
function attributeFilter(field: Field, call: Call): (candidate: RankedRow) => boolean {
  const name = textOf(call.args.get('attrName')?.value);
  const values = call.args.get('attrValues');
  if (name === undefined || !values) return () => true;
  if (!Array.isArray(values.value)) throw new CallError('attrValues must be a list', values.at);
  const wanted = new Set((values.value as readonly Value[]).map(comparable));
  if (wanted.size === 0) return () => true;
  return ({ row }) => {
    const value = field.attributes.value(row, name);
    return value !== undefined && wanted.has(comparable(value));
  };
}

/** Something that is equal for equal values and different for a text and the number it spells. */
const comparable = (value: Value | AttributeValue): unknown =>
  isFraction(value) ? value.fraction : typeof value === 'string' || isWord(value) ? `"${textOf(value) ?? ''}` : value;
