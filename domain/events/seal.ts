import type { RunEvent, RunEventInput } from '../../contracts/runs/event';
import { digestOf } from '../../platform/json/digest';
import { createRedactor } from '../../platform/log/redact';
import { boundedPayload } from './bounded-payload';

/** What every event of one attempt has in common. */
export interface RunEventSource {
  taskId: string;
  attemptId: string;
  provider: string;
  /** What speaks to the provider; its name when there is only one. */
  adapter?: string;
  agent: string;
  model?: string;
}

/** The `dedupeKey` of the event of an attempt's end: nothing comes after it. */
export const terminalKey = 'terminal';

/** An event before the log has assigned its sequence. */
export type SealedEvent = Omit<RunEvent, 'sequence'>;

/** Shapes of secrets, for producers that know no values. */
const redactShapes = createRedactor();

/**
 * Makes a `run-event/v1` of a producer's input. A payload that its producer has not bounded and redacted is so here: nothing
 * larger than the contract allows is ever stored.
 */
export function sealEvent(
  { taskId, attemptId, provider, adapter = provider, agent, model }: RunEventSource,
  event: RunEventInput,
  { eventId, now }: { eventId: string; now: string },
): SealedEvent {
  const { payload, redaction } =
    event.redaction === undefined
      ? boundedPayload(event.payload, redactShapes)
      : { payload: event.payload, redaction: event.redaction };
  return {
    schemaVersion: 'run-event/v1',
    eventId,
    taskId,
    runId: attemptId,
    attemptId,
    ...(event.sessionId === undefined ? {} : { sessionId: event.sessionId }),
    ...(event.turnId === undefined ? {} : { turnId: event.turnId }),
    ...(event.itemId === undefined ? {} : { itemId: event.itemId }),
    receivedAt: event.receivedAt ?? now,
    kind: event.kind,
    source: { provider, adapter, agent, model: model ?? null },
    redaction,
    payload,
    payloadHash: digestOf(payload),
    ...(event.dedupeKey === undefined ? {} : { dedupeKey: event.dedupeKey }),
  };
}
