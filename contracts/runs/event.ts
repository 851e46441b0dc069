import { z } from 'zod';
import { attemptId, digest, taskId, timestamp } from '../common';
import type { CapturedOutput } from './output';

export const runEventKind = z.enum([
  'run.queued',
  'run.refused',
  'run.started',
  'run.completed',
  'run.failed',
  'run.interrupted',
  'run.recovered',
  'run.error',
  'conversation.started',
  'conversation.resumed',
  'conversation.followed-up',
  'conversation.forked',
  'conversation.steered',
  'conversation.interrupted',
  'conversation.compacted',
  'conversation.archived',
  'conversation.closed',
  'message.operator',
  'message.assistant',
  'message.delta',
  'reasoning.delta',
  'progress',
  'stream.stdout',
  'stream.stderr',
  'command.started',
  'command.detached',
  'command.completed',
  'file.changed',
  'workspace.checkpoint.created',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'approval.resolved',
  'artifact.created',
  'usage.updated',
  'provider.unknown',
]);
export type RunEventKind = z.infer<typeof runEventKind>;

/** Limits of one event's payload: UTF-8 bytes of its JSON and of each string, nesting, and lengths of lists and objects. */
export const payloadLimits = { bytes: 32_768, stringBytes: 8_192, depth: 12, items: 200, keys: 256 } as const;

/** A provider's own name of something: a session, a turn in it, an item of that. */
const providerId = z.string().min(1).max(256);

/** What was done to a payload before it was stored. */
export const redaction = z.object({
  /** `dropped`: the payload was too long even after its parts were cut. */
  status: z.enum(['none', 'redacted', 'dropped']),
  /** Paths of what was cut or hidden; up to fifty. */
  fields: z.array(z.string()),
  originalBytes: z.number().int(),
  persistedBytes: z.number().int(),
});

/** `run-event/v1`: one occurrence in a run. Order is `sequence`, never a timestamp. */
export const runEvent = z
  .object({
    schemaVersion: z.literal('run-event/v1'),
    eventId: z.string(),
    taskId,
    runId: z.string(),
    attemptId,
    sessionId: providerId.optional(),
    turnId: providerId.optional(),
    itemId: providerId.optional(),
    sequence: z.number().int().min(1),
    receivedAt: timestamp,
    kind: runEventKind,
    source: z.object({
      provider: z.string(),
      adapter: z.string(),
      agent: z.string(),
      model: z.string().nullable(),
    }),
    redaction,
    payload: z.record(z.string(), z.unknown()),
    /** SHA-256 of the payload's canonical JSON (RFC 8785). */
    payloadHash: digest,
    dedupeKey: z.string().optional(),
  })
  .meta({ id: 'RunEvent' });
export type RunEvent = z.infer<typeof runEvent>;

/** A provider's own names of what an event belongs to. */
export type EventIds = Pick<RunEvent, 'sessionId' | 'turnId' | 'itemId'>;

/** The producer's part; identity, sequence and hash are added where it is appended. */
export interface RunEventInput extends EventIds {
  kind: RunEventKind;
  payload: Record<string, unknown>;
  /** What was cut or redacted from the payload. When absent, the payload is bounded and redacted where it is appended. */
  redaction?: RunEvent['redaction'];
  /** ISO 8601; now when absent. */
  receivedAt?: string;
  dedupeKey?: string;
  /** What did not fit into the payload; it is stored before the event is appended. */
  captured?: CapturedOutput;
}

export const runEventPage = z
  .object({
    schemaVersion: z.literal('run-event-page/v1'),
    taskId,
    attemptId,
    events: z.array(runEvent),
    /** What to send as `afterSequence` next: the last sequence of this page, or the requested one when it is empty. */
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
