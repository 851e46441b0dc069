import { type Attributes, type AttributeValue, isFraction } from '../engine/attributes';
import type { ColumnSet } from '../engine/column-set';
import type { Int } from '../int';
import type { Answer, Group, Pair, Result, RowResult } from '../query/result';

/** Rows with more columns are made into text a piece at a time, so that no other caller waits for one huge answer. */
const atOnce = 100_000;

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

const ids = (list: readonly Int[]): string => `[${list.join(',')}]`;

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
      yield `[${one.pairs.map(pair).join(',')}]`;
      break;
    case 'pair':
      yield pair(one.pair);
      break;
    case 'rows':
      yield one.keys ? `{"rows":null,"keys":${JSON.stringify(one.keys)}}` : `{"rows":${ids(one.rows)}}`;
      break;
    case 'groups':
      yield `[${one.groups.map(group).join(',')}]`;
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
    const list = columnAttributes.map(({ column, key, attributes }) => {
      const name = key === undefined ? `"id":${column}` : `"key":${json(key)}`;
      return `{${name},"attrs":${attributeObject(attributes)}}`;
    });
    yield `,"columnAttrs":[${list.join(',')}]`;
  }
  yield '}\n';
}

/** Whether an answer is better sent in pieces. Its rows must then not change before all of it is sent. */
export const isLarge = ({ results }: Answer): boolean =>
  results.some((one) => one.kind === 'row' && !one.withoutColumns && one.columns.size > atOnce);
