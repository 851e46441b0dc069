import { z } from 'zod';
import { attemptId, taskId, timestamp } from './common';

export const runEventKind = z.enum([
  'run.queued',
  'run.started',
  'run.completed',
  'run.failed',
  'run.interrupted',
  'run.recovered',
  'run.error',
  'message.operator',
  'message.assistant',
  'progress',
  'stream.stdout',
  'stream.stderr',
  'file.changed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'artifact.created',
  'usage.updated',
  'provider.unknown',
]);
export type RunEventKind = z.infer<typeof runEventKind>;

/** `run-event/v1`: one thing that happened in a run. Order is `sequence`, never a timestamp. */
export const runEvent = z
  .object({
    schemaVersion: z.literal('run-event/v1'),
    eventId: z.string(),
    taskId,
    runId: z.string(),
    attemptId,
    sequence: z.number().int().min(1),
    receivedAt: timestamp,
    kind: runEventKind,
    source: z.object({ provider: z.string(), agent: z.string(), model: z.string().optional() }),
    redaction: z.object({
      status: z.enum(['none', 'redacted', 'dropped']),
      fields: z.array(z.string()),
      originalBytes: z.number().int(),
      persistedBytes: z.number().int(),
    }),
    payload: z.record(z.string(), z.unknown()),
    dedupeKey: z.string().optional(),
  })
  .meta({ id: 'RunEvent' });
export type RunEvent = z.infer<typeof runEvent>;

/** What a producer says; identity, sequence and redaction are added where it is appended. */
export interface RunEventInput {
  kind: RunEventKind;
  payload: Record<string, unknown>;
  /** What was cut or redacted from the payload; nothing when absent. */
  redaction?: RunEvent['redaction'];
  /** ISO 8601; now when absent. */
  receivedAt?: string;
  dedupeKey?: string;
}

export const runEventPage = z
  .object({
    schemaVersion: z.literal('run-event-page/v1'),
    taskId,
    attemptId,
    events: z.array(runEvent),
    nextCursor: z.number().int(),
    hasMore: z.boolean(),
  })
  .meta({ id: 'RunEventPage' });

export const runEventQuery = z
  .strictObject({
    afterSequence: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(500).default(100),
  })
  .meta({ id: 'RunEventQuery' });
