import { z } from 'zod';
import { tokenReport, tokenReportAnswer } from '../../contracts/telemetry';
import { BytesAnswer } from '../../platform/http/answer';
import type { Routes } from '../../platform/http/routes';
import { presentedIdempotencyKey } from '../../platform/http/idempotency';
import { runLogChunk, runLogHeader } from '../../runs/log';
import { callbackSecretHeader } from '../../contracts/callback-secret';
import { verifiedAttempt } from './attempt';
import { secretOf } from './callback-secret';
import type { RunsContext } from './context';
import { ofAttempt, ofTask } from './parameters';
import { reportTokens } from './tokens';

const tag = 'runs';

/** Events of one log page, at most. */
const logQuery = z
  .strictObject({
    afterSequence: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
  })
  .meta({ id: 'RunLogQuery' });

/** What a run reports of itself, and its log for people. */
export function runReportRoutes(routes: Routes, context: RunsContext): void {
  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/tokens',
      operationId: 'reportRunTokens',
      idempotency: 'own',
      summary: 'Count what exactly this attempt has used',
      tag,
      permission: 'task:write',
      params: ofTask,
      body: tokenReport,
      response: tokenReportAnswer,
      status: 201,
      errors: [404, 409],
    },
    ({ params, body, auth, header }) =>
      reportTokens(context, params.taskId, body, presentedIdempotencyKey(header), {
        auth,
        secret: secretOf(body.callbackSecret, header(callbackSecretHeader)),
      }),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts/:attemptId/log',
      operationId: 'getRunLog',
      summary: 'Read the log of an attempt as markdown, after a sequence',
      tag,
      permission: 'agent:read',
      params: ofAttempt,
      query: logQuery,
      response: z.string(),
      errors: [404, 409],
    },
    async ({ params, query: { afterSequence, limit } }) => {
      const record = await verifiedAttempt(context, params.taskId, params.attemptId);
      const read = await context.events.read(record._id, afterSequence, limit + 1);
      const events = read.slice(0, limit);
      const header = afterSequence === 0 ? runLogHeader({ ...record, attemptId: record._id }) : '';
      return new BytesAnswer(chunks([header, ...events.map(runLogChunk)]), {
        'Content-Type': 'text/markdown; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
        'X-Next-Sequence': String(events.at(-1)?.sequence ?? afterSequence),
        'X-Has-More': String(read.length > limit),
      });
    },
  );
}

async function* chunks(texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) if (text !== '') yield Buffer.from(text);
}
