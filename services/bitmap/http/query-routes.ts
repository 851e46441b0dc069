import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { answerJson, isLarge } from '../answers/json';
import { answerProtobuf, readQueryRequest } from '../answers/messages';
import { ProtobufError } from '../answers/wire';
import { QueryError } from '../query/errors';
import { executeWith, type QueryOptions, type ThreadedExecution } from '../query/execute';
import type { Answer } from '../query/result';
import { queryText, readBody } from './body';
import { catalogOf, findIndex, param, type Routes } from './context';
import {
  argument,
  checkArguments,
  flag,
  jsonType,
  protobuf,
  Refusal,
  sendsProtobuf,
  shardNumber,
  wantsProtobuf,
} from './reply';

/** Arguments of both revisions. */
const queryArguments = [
  'shards',
  'slices',
  'columnAttrs',
  'excludeBits',
  'excludeAttrs',
  'excludeColumns',
  'excludeRowAttrs',
] as const;

/** `POST /index/<index>/query`, of both revisions. */
export const queryRoutes: Routes = (router, context) => {
  const { store, bodyLimit, threads } = context;
  const catalog = catalogOf(context);

  router.post('/index/:index/query', async (ctx) => {
    const binary = wantsProtobuf(ctx);
    const form = binary ? 'protobuf' : 'error';
    checkArguments(ctx, ...queryArguments);
    const { text, options } = readRequest(ctx, await readBody(ctx, bodyLimit), form);
    const index = findIndex(catalog, param(ctx, 'index'), { form, status: 400 });
    let answer: Answer;
    try {
      answer = await executeOrRefuse({ threads, catalog, index, options, form }, text);
    } finally {
      // Also what was written before a call failed.
      await store.commit();
    }
    send(ctx, answer, binary);
  });
};

interface RefusableExecution extends ThreadedExecution {
  form: 'protobuf' | 'error';
}

/**
 * The answer, or a promise of it where threads count.
 *
 * @throws Refusal 400 with what is wrong with the query
 */
export function executeOrRefuse({ form, ...execution }: RefusableExecution, text: string): Answer | Promise<Answer> {
  try {
    return executeWith(execution, text);
  } catch (error) {
    if (!(error instanceof QueryError)) {
      throw error;
    }
    throw new Refusal(400, error.message, { form });
  }
}

function readRequest(ctx: Context, body: Buffer, form: 'protobuf' | 'error'): { text: string; options: QueryOptions } {
  const slices = argument(ctx, 'slices');
  const isEarlier = slices !== undefined;
  const shards = (argument(ctx, 'shards') ?? slices ?? '').split(',').filter(Boolean).map(shardNumber);
  const options: QueryOptions = {
    shards,
    columnAttributes: flag(ctx, 'columnAttrs'),
    excludeColumns: flag(ctx, 'excludeBits', 'excludeColumns'),
    excludeAttributes: flag(ctx, 'excludeAttrs', 'excludeRowAttrs'),
    isEarlier,
  };
  if (!sendsProtobuf(ctx)) {
    return { text: queryText(body, form), options };
  }
  try {
    const request = readQueryRequest(body);
    return {
      text: request.query,
      options: {
        shards: [...shards, ...request.shards.map((shard) => shardNumber(String(shard)))],
        columnAttributes: options.columnAttributes || request.columnAttributes,
        excludeColumns: options.excludeColumns || request.excludeColumns,
        excludeAttributes: options.excludeAttributes || request.excludeAttributes,
        isEarlier,
      },
    };
  } catch (error) {
    if (!(error instanceof ProtobufError)) {
      throw error;
    }
    throw new Refusal(400, `the body is not a query request: ${error.message}`, { form });
  }
}

function send(ctx: Context, answer: Answer, binary: boolean): void {
  if (binary) {
    return protobuf(ctx, answerProtobuf(answer));
  }
  ctx.type = jsonType;
  ctx.body = isLarge(answer) ? answerStream(answer) : answerText(answer);
}

export const answerText = (answer: Answer): string => [...answerJson(answer)].join('');

/** Others write while this is sent: the rows are copied first. */
export function answerStream(answer: Answer): Readable {
  const results = answer.results.map((one) => (one.kind === 'row' ? { ...one, columns: one.columns.clone() } : one));
  return Readable.from(answerJson({ ...answer, results }), { objectMode: true });
}
