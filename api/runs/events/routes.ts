import { z } from 'zod';
import { runEventPage, runEventQuery } from '../../../contracts/runs/event';
import { runLogChunk, runLogHeader } from '../../../domain/run-log';
import { BytesResponse } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { attemptOfTask, verifiedAttempt } from '../attempts/attempt';
import { attemptParams } from '../attempts/parameters';
import { eventPage } from './event-page';

const tag = 'runs';

/** Limit of the events of one log page. */
const logQuery = z
  .strictObject({
    afterSequence: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
    /** The last so many events, instead of a page after a sequence. */
    last: z.coerce.number().int().min(1).max(1_000).optional(),
  })
  .refine(({ last, afterSequence }) => last === undefined || afterSequence === 0, {
    path: ['last'],
    message: 'is instead of afterSequence',
  })
  .meta({ id: 'RunLogQuery' });

/** The events of an attempt, for programs and as a log for people. */
export function eventRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts/:attemptId/events',
      operationId: 'listRunEvents',
      summary: 'Replay the events of an attempt after a sequence',
      tag,
      permission: 'agent:read',
      params: attemptParams,
      query: runEventQuery,
      response: runEventPage,
      errors: [404],
    },
    async ({ params, query }, ctx) =>
      eventPage(context, await attemptOfTask(context, params.taskId, params.attemptId), { query, ctx }),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts/:attemptId/log',
      operationId: 'getRunLog',
      summary: 'Read the log of an attempt as markdown, after a sequence or its last events',
      tag,
      permission: 'agent:read',
      params: attemptParams,
      query: logQuery,
      response: z.string(),
      mediaType: 'text/markdown',
      errors: [404, 409],
    },
    async ({ params, query: { last, ...query } }) => {
      const record = await verifiedAttempt(context, { taskId: params.taskId, attemptId: params.attemptId });
      const { afterSequence, limit } =
        last === undefined
          ? query
          : { afterSequence: Math.max(0, (await context.events.last(record._id)) - last), limit: last };
      const read = await context.events.read(record._id, afterSequence, limit + 1);
      const events = read.slice(0, limit);
      const header = afterSequence === 0 ? runLogHeader({ ...record, attemptId: record._id }) : '';
      return new BytesResponse(chunks([header, ...events.map(runLogChunk)]), {
        'Content-Type': 'text/markdown; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
        'X-Next-Sequence': String(events.at(-1)?.sequence ?? afterSequence),
        'X-Has-More': String(read.length > limit),
      });
    },
  );
}

async function* chunks(texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (text !== '') {
      yield Buffer.from(text);
    }
  }
}
