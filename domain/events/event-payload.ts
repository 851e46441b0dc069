import { payloadLimits, type RunEventInput } from '../../contracts/runs/event';
import { artifactLimits, type CapturedOutput } from '../../contracts/runs/output';
import type { Redactor } from '../../platform/log/redact';
import { boundedPayload, redactedJson } from './bounded-payload';
import { clipText } from './clip';
import { captureOutput, json, plainText, previewLimit, previewOf } from './output-artifact';

/** The payload of an event, as it is stored, with what did not fit into it. */
export interface EventPayload extends Required<Pick<RunEventInput, 'payload' | 'redaction'>> {
  /** Length of the payload as JSON. */
  bytes: number;
  captured?: CapturedOutput;
}

/** Where an artifact of an event belongs; without it, what does not fit is cut. */
export interface ArtifactLocation {
  attemptId: string;
  /** Names the event within its attempt. */
  key: string;
}

/** For text that is redacted already. */
const asItIs: Redactor = (text) => text;

interface PayloadOptions {
  redact: Redactor;
  /** The size of what it was read from. */
  originalBytes: number;
  location?: ArtifactLocation;
}

/**
 * The payload of an event of any size: bounded and redacted, and when something had to be cut, the whole of it, redacted too,
 * as an artifact whose preview is in `outputArtifact`. No producer may set that field itself.
 */
export function eventPayload(
  { outputArtifact: _reserved, ...value }: Record<string, unknown>,
  { redact, originalBytes, location }: PayloadOptions,
): EventPayload {
  const bounded = boundedPayload(value, redact, { originalBytes });
  if (!bounded.cut || !location) {
    return bounded;
  }
  const whole = redactedJson(value, redact);
  const body = Buffer.from(clipText(whole, artifactLimits.lineBytes));
  const captured = captureOutput(location.attemptId, location.key, {
    kind: 'payload',
    name: null,
    mediaType: json,
    originalBytes: Math.max(originalBytes, Buffer.byteLength(whole)),
    truncated: body.length < Buffer.byteLength(whole),
    body,
  });
  return withPreview(boundedPayload(value, redact, { originalBytes, maxBytes: roomBeside }), captured);
}

/**
 * The payload of one line of text, `{text}`, with the `problem` of a line that was refused.
 *
 * @param line its retained part, and its length as it was written
 * @param redactLine the redactor of its stream, which gets every line once and in order
 */
export function textPayload(
  line: { text: string; kind: 'stdout' | 'stderr'; bytes: number; truncated: boolean; problem?: string },
  redactLine: Redactor,
  location?: ArtifactLocation,
): EventPayload {
  const clean = redactLine(line.text);
  const hidden = clean === line.text ? [] : ['text'];
  const problemField = line.problem === undefined ? {} : { problem: line.problem };
  const bounded = boundedPayload({ text: clean, ...problemField }, asItIs, { originalBytes: line.bytes, hidden });
  if (!bounded.cut || !location) {
    return bounded;
  }
  const body = Buffer.from(clipText(clean, artifactLimits.lineBytes));
  const captured = captureOutput(location.attemptId, location.key, {
    kind: line.kind,
    name: null,
    mediaType: plainText,
    originalBytes: line.bytes,
    truncated: line.truncated || body.length < Buffer.byteLength(clean),
    body,
  });
  return withPreview(bounded, captured);
}

/** Bytes for a payload beside the preview of an artifact. */
const roomBeside = payloadLimits.bytes - previewLimit;

/** A bounded payload with the preview of what was captured beside it. */
export function withPreview(
  { payload, redaction, bytes }: Omit<EventPayload, 'captured'>,
  captured: CapturedOutput,
): EventPayload {
  const previewed = { ...payload, outputArtifact: previewOf(captured) };
  const previewedBytes = Buffer.byteLength(JSON.stringify(previewed));
  return {
    payload: previewed,
    redaction: {
      ...redaction,
      originalBytes: Math.max(redaction.originalBytes, bytes, captured.originalBytes),
      persistedBytes: previewedBytes,
    },
    bytes: previewedBytes,
    captured,
  };
}
