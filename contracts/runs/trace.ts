import { z } from 'zod';
import { attemptId, taskId, timestamp } from '../common';
import { listPage, nextCursor } from '../query';
import { type AttemptState, attemptState } from './attempt';

/** When an attempt came to each of its states, which is recorded while tracing is enabled. */
export type StepTimes = Partial<Record<AttemptState, string>>;

/** What a span is a stretch of time of. */
export const spanKind = z.enum([
  ...(['run', 'launch', 'queue', 'worktree', 'prepare', 'dispatch', 'agent'] as const),
  ...(['turn', 'tool', 'command', 'approval', 'completion', 'recovery'] as const),
]);

/** `open`: it has not ended. `unknown`: the attempt is over, and nothing records how this ended. */
export const spanStatus = z.enum(['ok', 'error', 'open', 'unknown']);

/** One stretch of time in a run. */
export const traceSpan = z
  .object({
    spanId: z.string(),
    /** The span that this one is a part of; null for that of the run. */
    parentSpanId: z.string().nullable(),
    kind: spanKind,
    name: z.string(),
    status: spanStatus,
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
    durationMs: z.number().int().min(0).nullable(),
    attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  })
  .meta({ id: 'TraceSpan' });
export type TraceSpan = z.infer<typeof traceSpan>;

const trace = {
  schemaVersion: z.literal('run-trace/v1'),
  /** The id of the attempt, which is that of its trace. */
  traceId: attemptId,
  taskId,
  attemptId,
  state: attemptState,
  startedAt: timestamp,
  endedAt: timestamp.nullable(),
  durationMs: z.number().int().min(0).nullable(),
  spans: z.array(traceSpan),
};

/** A trace without the spans of what its agent did. */
export const traceSummary = z.object(trace).meta({ id: 'RunTraceSummary' });
export type TraceSummary = z.infer<typeof traceSummary>;

/** `run-trace/v1`: the spans of an attempt, those that began first at the beginning. */
export const runTrace = z
  .object({
    ...trace,
    events: z.object({
      /** Events of the attempt that the spans of its agent were made of. */
      read: z.number().int(),
      /** Whether there are more events, or more spans, than a trace has. */
      truncated: z.boolean(),
      /** When the events were purged: what the agent did is not in the trace any more. */
      purgedAt: timestamp.nullable(),
    }),
    nextCursor,
  })
  .meta({ id: 'RunTrace' });

export const traceQuery = z.strictObject(listPage(200, 500)).meta({ id: 'RunTraceQuery' });
export const taskTraceQuery = z.strictObject(listPage(50, 200)).meta({ id: 'TaskTraceQuery' });

export const taskTraces = z
  .object({
    taskId,
    traces: z.array(traceSummary),
    /** Attempts of the page that ran while tracing was disabled. */
    untraced: z.array(attemptId),
    nextCursor,
  })
  .meta({ id: 'TaskTraces' });

export const tracingStatus = z.object({ enabled: z.boolean() }).meta({ id: 'TracingStatus' });
