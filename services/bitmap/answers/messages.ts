import { type Attributes, isFraction } from '../engine/attributes';
import { type Int, maxInt64, minInt64 } from '../int';
import type { Answer, Group, Pair, Result } from '../query/result';
import type { Steps } from '../steps';
import { MessageWriter, ProtobufError, readMessage } from './wire';

/*
 * The protobuf messages of both revisions. Their numbers agree and only their names differ: shards and slices, fields
 * and frames, columns and bits, rows and bitmaps.
 */

export interface QueryRequest {
  query: string;
  shards: Int[];
  columnAttributes: boolean;
  excludeAttributes: boolean;
  excludeColumns: boolean;
}

export function readQueryRequest(bytes: Uint8Array): QueryRequest {
  const request: QueryRequest = {
    query: '',
    shards: [],
    columnAttributes: false,
    excludeAttributes: false,
    excludeColumns: false,
  };
  readMessage(bytes, (field, value) => {
    if (field === 1) {
      request.query = value.text();
    } else if (field === 2) {
      value.addUnsigned(request.shards);
    } else if (field === 3) {
      request.columnAttributes = value.bool();
    } else if (field === 6) {
      request.excludeAttributes = value.bool();
    } else if (field === 7) {
      request.excludeColumns = value.bool();
    } else {
      return false;
    }
    return true;
  });
  return request;
}

export interface ImportRequest {
  index: string;
  /** A frame in the earlier revision. */
  field: string;
  shard: Int;
  rows: Int[];
  columns: Int[];
  /** Nanoseconds since 1970; 0 is none. */
  timestamps: Int[];
  rowKeys: string[];
  columnKeys: string[];
}

export function readImportRequest(bytes: Uint8Array): ImportRequest {
  const request: ImportRequest = {
    index: '',
    field: '',
    shard: 0,
    rows: [],
    columns: [],
    timestamps: [],
    rowKeys: [],
    columnKeys: [],
  };
  readMessage(bytes, (field, value) => {
    if (field === 1) {
      request.index = value.text();
    } else if (field === 2) {
      request.field = value.text();
    } else if (field === 3) {
      request.shard = value.unsigned();
    } else if (field === 4) {
      value.addUnsigned(request.rows);
    } else if (field === 5) {
      value.addUnsigned(request.columns);
    } else if (field === 6) {
      value.addSigned(request.timestamps);
    } else if (field === 7) {
      value.addText(request.rowKeys);
    } else if (field === 8) {
      value.addText(request.columnKeys);
    } else {
      return false;
    }
    return true;
  });
  return request;
}

export interface ImportValueRequest {
  index: string;
  /** A frame in the earlier revision, which names the field in `frameField`. */
  field: string;
  frameField: string;
  shard: Int;
  columns: Int[];
  values: Int[];
  columnKeys: string[];
}

export function readImportValueRequest(bytes: Uint8Array): ImportValueRequest {
  const request: ImportValueRequest = {
    index: '',
    field: '',
    frameField: '',
    shard: 0,
    columns: [],
    values: [],
    columnKeys: [],
  };
  readMessage(bytes, (field, value) => {
    if (field === 1) {
      request.index = value.text();
    } else if (field === 2) {
      request.field = value.text();
    } else if (field === 3) {
      request.shard = value.unsigned();
    } else if (field === 4) {
      request.frameField = value.text();
    } else if (field === 5) {
      value.addUnsigned(request.columns);
    } else if (field === 6) {
      value.addSigned(request.values);
    } else if (field === 7) {
      value.addText(request.columnKeys);
    } else {
      return false;
    }
    return true;
  });
  return request;
}

/** Views of one roaring import. */
const maxViews = 4_096;

export interface ImportRoaringRequest {
  clear: boolean;
  views: { name: string; data: Uint8Array }[];
}

export function readImportRoaringRequest(bytes: Uint8Array): ImportRoaringRequest {
  const request: ImportRoaringRequest = { clear: false, views: [] };
  readMessage(bytes, (field, value) => {
    if (field === 1) {
      request.clear = value.bool();
    } else if (field === 2) {
      const view: ImportRoaringRequest['views'][number] = { name: '', data: new Uint8Array() };
      readMessage(value.bytes(), (inner, innerValue) => {
        if (inner === 1) {
          view.name = innerValue.text();
        } else if (inner === 2) {
          view.data = innerValue.bytes();
        } else {
          return false;
        }
        return true;
      });
      if (request.views.length >= maxViews) {
        throw new ProtobufError(`an import has at most ${maxViews} views`);
      }
      request.views.push(view);
    } else {
      return false;
    }
    return true;
  });
  return request;
}

export interface TranslateKeysRequest {
  index: string;
  /** Empty: the keys of columns. */
  field: string;
  keys: string[];
}

export function readTranslateKeysRequest(bytes: Uint8Array): TranslateKeysRequest {
  const request: TranslateKeysRequest = { index: '', field: '', keys: [] };
  readMessage(bytes, (field, value) => {
    if (field === 1) {
      request.index = value.text();
    } else if (field === 2) {
      request.field = value.text();
    } else if (field === 3) {
      value.addText(request.keys);
    } else {
      return false;
    }
    return true;
  });
  return request;
}

export const translateKeysResponse = (ids: readonly Int[]): Uint8Array =>
  new MessageWriter().integers(3, [ids]).finish();

/** Of an import; without an error it is empty. */
export const importResponse = (error = ''): Uint8Array => new MessageWriter().text(1, error).finish();

export const errorResponse = (error: string): Uint8Array => new MessageWriter().text(1, error).finish();

/** An answer that its message has no room for. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** `QueryResult.Type` by kind of result. The earlier revision knows those up to 5. */
const types = {
  nothing: 0,
  row: 1,
  pairs: 2,
  value: 3,
  count: 4,
  changed: 5,
  groups: 7,
  rows: 8,
  pair: 9,
} as const satisfies Record<Result['kind'], number>;

function addAttributes(to: MessageWriter, field: number, attributes: Attributes): void {
  for (const [name, value] of attributes) {
    const message = new MessageWriter().text(1, name);
    if (typeof value === 'string') {
      message.integer(2, 1).text(3, value);
    } else if (typeof value === 'boolean') {
      message.integer(2, 3).bool(5, value);
    } else if (isFraction(value)) {
      message.integer(2, 4).double(6, value.fraction);
    } else {
      message.integer(2, 2).integer(4, value);
    }
    to.message(field, message);
  }
}

const pairMessage = ({ row, key, count }: Pair): MessageWriter =>
  key === undefined
    ? new MessageWriter().integer(1, row).integer(2, count)
    : new MessageWriter().integer(2, count).text(3, key);

function groupMessage({ rows, count }: Group): MessageWriter {
  const message = new MessageWriter();
  for (const { field, row, key } of rows) {
    const member = new MessageWriter().text(1, field);
    message.message(1, key === undefined ? member.integer(2, row) : member.text(3, key));
  }
  return message.integer(2, count);
}

/** Items of a result that are written in one step. */
const itemsOfStep = 1_000;

function* rowMessage(result: Result & { kind: 'row' }, { keyOf }: Answer): Steps<MessageWriter> {
  const message = new MessageWriter();
  const { columns } = result;
  if (!result.withoutColumns && !keyOf) {
    yield* message.integersInSteps(1, columns.chunks());
  }
  if (!result.withoutAttributes) {
    addAttributes(message, 2, result.attributes);
  }
  if (!result.withoutColumns && keyOf) {
    for (const chunk of columns.chunks()) {
      message.texts(3, chunk.map(keyOf));
      yield;
    }
  }
  return message;
}

/** Adds a message for each item, some at a time. */
function* addEach<T>(
  to: MessageWriter,
  field: number,
  { items, message }: { items: readonly T[]; message: (item: T) => MessageWriter },
): Steps<void> {
  for (const [at, item] of items.entries()) {
    to.message(field, message(item));
    if (at % itemsOfStep === 0) {
      yield;
    }
  }
}

function* resultMessage(result: Result, answer: Answer): Steps<MessageWriter> {
  const message = new MessageWriter();
  switch (result.kind) {
    case 'nothing':
      break;
    case 'row':
      message.message(1, yield* rowMessage(result, answer));
      break;
    case 'count':
      message.integer(2, result.count);
      break;
    case 'pairs':
      yield* addEach(message, 3, { items: result.pairs, message: pairMessage });
      break;
    case 'pair':
      message.message(3, pairMessage(result.pair));
      break;
    case 'changed':
      message.bool(4, result.changed);
      break;
    case 'value':
      if (result.value > maxInt64 || result.value < minInt64) {
        throw new AnswerError(`the sum ${result.value} does not fit the 64 bits it has in protobuf; JSON has it whole`);
      }
      message.message(5, new MessageWriter().integer(1, result.value).integer(2, result.count));
      break;
    case 'groups':
      yield* addEach(message, 8, { items: result.groups, message: groupMessage });
      break;
    case 'rows': {
      const identifiers = new MessageWriter();
      if (result.keys) {
        identifiers.texts(2, result.keys);
      } else {
        identifiers.integers(1, [result.rows]);
      }
      message.message(9, identifiers);
    }
  }
  return message.integer(6, types[result.kind]);
}

/** The answer of a query as a `QueryResponse`. @throws AnswerError */
export function* answerProtobuf(answer: Answer): Steps<Uint8Array> {
  const response = new MessageWriter();
  for (const result of answer.results) {
    response.message(2, yield* resultMessage(result, answer));
  }
  const columns = answer.columnAttributes ?? [];
  yield* addEach(response, 3, {
    items: columns,
    message: ({ column, key, attributes }) => {
      const set = new MessageWriter();
      if (key === undefined) {
        set.integer(1, column);
      }
      addAttributes(set, 2, attributes);
      return key === undefined ? set : set.text(3, key);
    },
  });
  return response.finish();
}
