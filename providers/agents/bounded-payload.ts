import type { RunEvent } from '../../contracts/run-event';
import { isSecretName, redactedMark, type Redactor } from '../../platform/log/redact';

/** Limits of one event's payload (run event contract). */
export const payloadLimits = { bytes: 32_768, stringBytes: 8_192, depth: 12, items: 200, keys: 256 } as const;

/** The most paths of changed fields that are listed. */
const listedFields = 50;

export interface BoundedPayload {
  payload: Record<string, unknown>;
  redaction: RunEvent['redaction'];
  /** Length of the payload as JSON. */
  bytes: number;
}

/** Cuts text to a number of UTF-8 bytes without splitting a character. */
export function clipText(text: string, maxBytes: number): string {
  // No character takes more than three bytes per UTF-16 unit, so most texts need not be measured.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  let end = bytes.length;
  while (end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  const last = bytes[end - 1] ?? 0;
  const needed = last >= 0xf0 ? 4 : last >= 0xe0 ? 3 : last >= 0xc0 ? 2 : 1;
  return bytes.subarray(0, bytes.length - end + 1 < needed ? end - 1 : bytes.length).toString('utf8');
}

/** Makes one value fit, noting the path of everything it changed. */
class Bounds {
  readonly changed: string[] = [];

  constructor(private readonly redact: Redactor) {}

  value(value: unknown, path: string, depth: number): unknown {
    if (typeof value === 'string') return this.text(value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= payloadLimits.depth) return this.note(path, '[TOO DEEP]');
    return Array.isArray(value) ? this.list(value, path, depth) : this.record(value, path, depth);
  }

  record(value: object, path: string, depth: number): Record<string, unknown> {
    const entries = Object.entries(value);
    if (entries.length > payloadLimits.keys) this.note(path);
    const bounded = entries.slice(0, payloadLimits.keys).map(([name, item]) => {
      const key = clipText(this.redact(name), 256);
      const here = path === '' ? key : `${path}.${key}`;
      if (key !== name) this.note(here);
      const secret = isSecretName(name) && typeof item === 'string';
      return [key, secret ? this.note(here, redactedMark) : this.value(item, here, depth + 1)];
    });
    return Object.fromEntries(bounded) as Record<string, unknown>;
  }

  private list(value: unknown[], path: string, depth: number): unknown[] {
    if (value.length > payloadLimits.items) this.note(path);
    return value.slice(0, payloadLimits.items).map((item, index) => this.value(item, `${path}.${index}`, depth + 1));
  }

  private text(value: string, path: string): string {
    const kept = clipText(this.redact(value), payloadLimits.stringBytes);
    return kept === value ? value : this.note(path, kept);
  }

  private note<T>(path: string, result?: T): T {
    if (this.changed.length < listedFields) this.changed.push(clipText(path, 256));
    return result as T;
  }
}

/**
 * Makes a payload fit the limits of an event and removes secrets from it. A payload that is too long even so is
 * replaced by the beginning of its text.
 *
 * @param originalBytes what it was read from, when that is more than the payload itself
 */
export function boundedPayload(value: Record<string, unknown>, redact: Redactor, originalBytes = 0): BoundedPayload {
  const bounds = new Bounds(redact);
  const payload = bounds.record(value, '', 0);
  const json = JSON.stringify(payload);
  const bytes = Buffer.byteLength(json);
  const original = Math.max(originalBytes, bytes);
  if (bytes > payloadLimits.bytes) {
    const preview = { truncated: true, preview: clipText(json, payloadLimits.stringBytes) };
    const previewBytes = Buffer.byteLength(JSON.stringify(preview));
    return {
      payload: preview,
      bytes: previewBytes,
      redaction: { status: 'dropped', fields: ['*'], originalBytes: original, persistedBytes: previewBytes },
    };
  }
  const status = bounds.changed.length > 0 ? 'redacted' : 'none';
  return {
    payload,
    bytes,
    redaction: { status, fields: bounds.changed, originalBytes: original, persistedBytes: bytes },
  };
}
