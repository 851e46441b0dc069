import type { z } from 'zod';
import type { runEventPage, runEventQuery } from '../../../contracts/runs/event';
import type { HttpContext } from '../../../platform/http/context';
import { linkNext } from '../../../platform/http/list-response';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';

/** The events of an attempt after a sequence, with the cursor of the next page. */
export async function eventPage(
  { events: log }: Pick<WorkflowContext, 'events'>,
  { _id: attemptId, taskId }: Pick<AttemptRecord, '_id' | 'taskId'>,
  { query: { afterSequence, limit }, ctx }: { query: z.output<typeof runEventQuery>; ctx: HttpContext },
): Promise<z.infer<typeof runEventPage>> {
  const read = await log.read(attemptId, afterSequence, limit + 1);
  const events = read.slice(0, limit);
  const nextCursor = events.at(-1)?.sequence ?? afterSequence;
  const hasMore = read.length > limit;
  if (hasMore) {
    linkNext(ctx, 'afterSequence', String(nextCursor));
  }
  return { schemaVersion: 'run-event-page/v1', taskId, attemptId, events, nextCursor, hasMore };
}
