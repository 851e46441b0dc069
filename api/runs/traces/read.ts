import type { z } from 'zod';
import type { runTrace, TraceSpan, TraceSummary } from '../../../contracts/runs/trace';
import { createEventSpans } from '../../../domain/traces/event-spans';
import { between } from '../../../domain/traces/span';
import { stepSpans } from '../../../domain/traces/step-spans';
import { AppError, assertFound } from '../../../platform/errors/app-error';
import type { PagedBody, PageRequest } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { ApiContext } from '../../context';

export type TraceContext = Pick<ApiContext, 'attempts' | 'events' | 'queue' | 'recoveries' | 'settings' | 'worktrees'>;

/** An attempt whose times of steps were recorded. */
export type Traced = AttemptRecord & Required<Pick<AttemptRecord, 'steps'>>;

/** How many events of an attempt are read for its trace, and how many at a time. */
const maxEvents = 10_000;
const eventsAtOnce = 500;

/** Whether tracing was enabled when the attempt was admitted, or refused: later steps alone make no trace. */
export const isTraced = (record: AttemptRecord): record is Traced =>
  record.steps?.admitted !== undefined || record.steps?.refused !== undefined;

/** @throws AppError 404; `TRACE_NOT_RECORDED` for an attempt that ran while tracing was disabled */
export async function tracedAttempt(
  { attempts, settings }: Pick<TraceContext, 'attempts' | 'settings'>,
  attemptId: string,
): Promise<Traced> {
  const record = await attempts.get(attemptId);
  assertFound(record, 'attempt', attemptId);
  if (isTraced(record)) {
    return record;
  }
  const { enabled } = (await settings.read()).features.tracing;
  throw new AppError('TRACE_NOT_RECORDED', {
    status: 404,
    message: `Tracing was disabled when ${attemptId} ran. Enable it with POST /api/traces/enable for later attempts.`,
    details: { attemptId, enabled },
  });
}

/** The trace of an attempt without what its agent did. */
export async function traceSummaryOf(context: TraceContext, record: Traced): Promise<TraceSummary> {
  const { _id: attemptId, taskId, state, createdAt, endedAt, steps } = record;
  const [queued, worktree, recovery] = await Promise.all([
    steps.queued === undefined ? undefined : context.queue.get(attemptId),
    context.worktrees.get(taskId),
    context.recoveries.get(attemptId),
  ]);
  return {
    schemaVersion: 'run-trace/v1',
    traceId: attemptId,
    taskId,
    attemptId,
    state,
    startedAt: createdAt,
    endedAt: endedAt ?? null,
    durationMs: endedAt === undefined ? null : between(createdAt, endedAt),
    spans: stepSpans({ ...record, attemptId }, { queued, worktree: worktree?.history, recovery }),
  };
}

/** One page of the whole trace, the spans in the order in which they began. */
export async function readTrace(
  context: TraceContext,
  record: Traced,
  part: PageRequest,
): Promise<PagedBody<Omit<z.infer<typeof runTrace>, 'nextCursor'>>> {
  const { spans: steps, ...trace } = await traceSummaryOf(context, record);
  const { spans: agent, ...events } = await eventSpansOf(context, record);
  const page = slicePage([...steps, ...agent], part, { positionOf });
  const purgedAt = record.eventsPurgedAt ?? null;
  return page.answer({ ...trace, spans: page.items, events: { ...events, purgedAt } });
}

/** The whole before its parts that began in the same millisecond. */
const positionOf = ({ spanId, startedAt, parentSpanId }: TraceSpan) => ({
  key: startedAt,
  id: `${parentSpanId === null ? 0 : 1}${spanId}`,
});

async function eventSpansOf({ events }: TraceContext, { _id: attemptId, endedAt }: Traced) {
  const made = createEventSpans();
  let read = 0;
  for (let after = 0; read < maxEvents;) {
    const page = await events.read(attemptId, after, eventsAtOnce);
    page.forEach((event) => made.add(event));
    read += page.length;
    after = page.at(-1)?.sequence ?? after;
    if (page.length < eventsAtOnce) {
      return { read, truncated: made.isTruncated(), spans: made.spans(endedAt) };
    }
  }
  const isMore = (await events.last(attemptId)) > maxEvents;
  return { read, truncated: isMore || made.isTruncated(), spans: made.spans(endedAt) };
}
