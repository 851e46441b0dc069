import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { answerJson, isLarge } from '../answers/json';
import { AnswerError, answerProtobuf, readQueryRequest } from '../answers/messages';
import { ProtobufError } from '../answers/wire';
import { QueryError } from '../query/errors';
import { executeWith, type QueryOptions, type ThreadedExecution } from '../query/execute';
import type { Answer } from '../query/result';
import { TooManyQueriesError } from '../query/slices';
import { queryText, readBody } from './body';
import { catalogOf, findIndex, inSlices, param, type Routes } from './context';
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
  const { store, bodyLimit, threads, slices, limits } = context;
  const catalog = catalogOf(context);

  router.post('/index/:index/query', async (ctx) => {
    const binary = wantsProtobuf(ctx);
    const form = binary ? 'protobuf' : 'error';
    checkArguments(ctx, ...queryArguments);
    const { text, options } = readRequest(ctx, await readBody(ctx, queryLimit(bodyLimit)), form);
    const index = findIndex(catalog, param(ctx, 'index'), { form, status: 400 });
    let answer: Answer;
    try {
      answer = await executeOrRefuse({ threads, slices, limits, catalog, index, options, form }, text);
    } finally {
      // Also what was written before a call failed.
      await store.commit();
    }
    if (binary) {
      protobuf(ctx, await inSlices(context, answerProtobuf(answer)).catch(refuseAnswer));
      return;
    }
    ctx.type = jsonType;
    ctx.body = isLarge(answer) ? answerStream(answer) : answerText(answer);
  });
};

function refuseAnswer(error: unknown): never {
  throw error instanceof AnswerError ? new Refusal(400, error.message, { form: 'protobuf' }) : error;
}

/** A longer text would keep all other callers waiting while it is read. */
const largestQuery = 4 * 1_048_576;

/** The largest body of a query, in bytes. */
export const queryLimit = (bodyLimit: number): number => Math.min(bodyLimit, largestQuery);

interface RefusableExecution extends ThreadedExecution {
  form: 'protobuf' | 'error';
}

/**
 * The answer, or a promise of it where it takes long.
 *
 * @throws Refusal 400 with what is wrong with the query, 429 when too many long ones are under way; at once or later
 */
export function executeOrRefuse(execution: RefusableExecution, text: string): Answer | Promise<Answer> {
  const refuse = (error: unknown): never => {
    if (!(error instanceof QueryError)) {
      throw error;
    }
    throw new Refusal(error instanceof TooManyQueriesError ? 429 : 400, error.message, { form: execution.form });
  };
  try {
    const answer = executeWith(execution, text);
    return answer instanceof Promise ? answer.catch(refuse) : answer;
  } catch (error) {
    return refuse(error);
  }
}

function readRequest(ctx: Context, body: Buffer, form: 'protobuf' | 'error'): { text: string; options: QueryOptions } {
  const slices = argument(ctx, 'slices');
  const isEarlier = slices !== undefined;
  const given = argument(ctx, 'shards');
  if (isEarlier && given !== undefined) {
    throw new Refusal(400, 'shards and slices mean the same; give one of them', { form });
  }
  const shards = (given ?? slices ?? '').split(',').filter(Boolean).map(shardNumber);
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

export const answerText = (answer: Answer): string => [...answerJson(answer)].join('');

/** Others write while this is sent: the rows are copied first. */
export function answerStream(answer: Answer): Readable {
  const results = answer.results.map((one) => (one.kind === 'row' ? { ...one, columns: one.columns.clone() } : one));
  return Readable.from(answerJson({ ...answer, results }), { objectMode: true });
}
