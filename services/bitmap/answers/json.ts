import { type Attributes, type AttributeValue, isFraction } from '../engine/attributes';
import type { ColumnSet } from '../engine/column-set';
import type { Int } from '../int';
import type { Answer, Group, Pair, Result, RowResult } from '../query/result';

/** Results with more columns, or more of anything else, are made into text a piece at a time: no other caller waits for one huge answer. */
const atOnce = { columns: 100_000, items: 5_000 };

/** Pieces of an answer's text; joined they are one JSON document. */
export type Pieces = Iterable<string>;

const json = (value: string | number | boolean | null): string => JSON.stringify(value);

function attributeValue(value: AttributeValue): string {
  if (isFraction(value)) {
    return json(value.fraction);
  }
  return typeof value === 'bigint' ? value.toString() : json(value);
}

const attributeObject = (attributes: Attributes): string =>
  `{${attributes.map(([name, value]) => `${json(name)}:${attributeValue(value)}`).join(',')}}`;

/** A list, some items at a time. */
function* listOf<T>(items: readonly T[], text: (item: T) => string): Pieces {
  let separator = '[';
  for (let from = 0; from < items.length; from += atOnce.items) {
    yield (
      separator +
      items
        .slice(from, from + atOnce.items)
        .map(text)
        .join(',')
    );
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function* columnList(columns: ColumnSet): Pieces {
  let separator = '[';
  for (const chunk of columns.chunks()) {
    yield separator + chunk.join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function* keyList(columns: ColumnSet, keyOf: (column: Int) => string): Pieces {
  let separator = '[';
  for (const chunk of columns.chunks()) {
    yield separator + chunk.map((column) => json(keyOf(column))).join(',');
    separator = ',';
  }
  yield ']';
}

function* row(result: RowResult, { keyOf, isEarlier }: Answer): Pieces {
  const listName = isEarlier ? 'bits' : 'columns';
  yield `{"attrs":${attributeObject(result.withoutAttributes ? [] : result.attributes)},"${listName}":`;
  const { columns } = result;
  if (result.withoutColumns || keyOf) {
    yield '[]';
  } else {
    yield* columnList(columns);
  }
  if (keyOf && !result.withoutColumns && !columns.isEmpty) {
    yield ',"keys":';
    yield* keyList(columns, keyOf);
  }
  yield '}';
}

const pair = ({ row: id, key, count }: Pair): string =>
  key === undefined ? `{"id":${id},"count":${count}}` : `{"id":0,"key":${json(key)},"count":${count}}`;

const group = ({ rows, count }: Group): string => {
  const members = rows.map(({ field, row: id, key }) =>
    key === undefined ? `{"field":${json(field)},"rowID":${id}}` : `{"field":${json(field)},"rowKey":${json(key)}}`,
  );
  return `{"group":[${members.join(',')}],"count":${count}}`;
};

function* result(one: Result, answer: Answer): Pieces {
  switch (one.kind) {
    case 'nothing':
      yield 'null';
      break;
    case 'changed':
      yield String(one.changed);
      break;
    case 'row':
      yield* row(one, answer);
      break;
    case 'count':
      yield String(one.count);
      break;
    case 'value':
      yield `{"value":${one.value},"count":${one.count}}`;
      break;
    case 'pairs':
      yield* listOf(one.pairs, pair);
      break;
    case 'pair':
      yield pair(one.pair);
      break;
    case 'rows':
      yield one.keys ? '{"rows":null,"keys":' : '{"rows":';
      yield* one.keys ? listOf(one.keys, json) : listOf(one.rows, String);
      yield '}';
      break;
    case 'groups':
      yield* listOf(one.groups, group);
      break;
  }
}

/** The answer of a query as pieces of JSON text. */
export function* answerJson(answer: Answer): Pieces {
  yield '{"results":[';
  for (const [at, one] of answer.results.entries()) {
    if (at > 0) {
      yield ',';
    }
    yield* result(one, answer);
  }
  yield ']';
  const { columnAttributes } = answer;
  if (columnAttributes && columnAttributes.length > 0) {
    yield ',"columnAttrs":';
    yield* listOf(columnAttributes, ({ column, key, attributes }) => {
      const name = key === undefined ? `"id":${column}` : `"key":${json(key)}`;
      return `{${name},"attrs":${attributeObject(attributes)}}`;
    });
  }
  yield '}\n';
}

/** Whether an answer is better sent in pieces. Its rows must then not change before all of it is sent. */
export const isLarge = ({ results, columnAttributes = [] }: Answer): boolean =>
  columnAttributes.length > atOnce.items || results.some(isLargeResult);

function isLargeResult(one: Result): boolean {
  switch (one.kind) {
    case 'row':
      return !one.withoutColumns && one.columns.size > atOnce.columns;
    case 'pairs':
      return one.pairs.length > atOnce.items;
    case 'rows':
      return one.rows.length > atOnce.items;
    case 'groups':
      return one.groups.length > atOnce.items;
    default:
      return false;
  }
}
