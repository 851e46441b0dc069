import { payloadLimits, type RunEvent } from '../../contracts/runs/event';
import { isSecretName, redactedMark, type Redactor } from '../../platform/log/redact';
import { clipText } from './clip';

/** The most paths of changed fields that are listed. */
const listedFields = 50;

/** The longest name of a field, in bytes. */
const nameBytes = 256;

/** Nesting of what is stored whole; deeper JSON cannot be serialized again. */
const wholeDepth = 64;

type Limits = Pick<Record<keyof typeof payloadLimits, number>, 'stringBytes' | 'depth' | 'items' | 'keys'>;

const unlimited: Limits = { stringBytes: Infinity, depth: wholeDepth, items: Infinity, keys: Infinity };

export interface BoundedPayload {
  payload: Record<string, unknown>;
  redaction: RunEvent['redaction'];
  /** Length of the payload as JSON. */
  bytes: number;
  /** Whether something is missing because it was too much, and not because it was secret. */
  cut: boolean;
}

/** Makes one value fit, noting the path of everything it changed. */
class Bounds {
  cut = false;

  constructor(
    private readonly redact: Redactor,
    private readonly limits: Limits,
    readonly changed: string[] = [],
  ) {}

  record(value: object, path: string, depth: number): Record<string, unknown> {
    const entries = Object.entries(value);
    if (entries.length > this.limits.keys) {
      this.shorten(path);
    }
    const bounded = entries.slice(0, this.limits.keys).map(([name, item]) => {
      const key = this.name(name);
      const here = path === '' ? key : `${path}.${key}`;
      if (key !== name) {
        this.note(here);
      }
      return [key, isSecret(name, item) ? this.note(here, redactedMark) : this.value(item, here, depth + 1)];
    });
    return Object.fromEntries(bounded) as Record<string, unknown>;
  }

  private value(value: unknown, path: string, depth: number): unknown {
    if (typeof value === 'string') {
      return this.text(value, path);
    }
    // What JSON reads from `1e999`, and cannot write: it would have no digest.
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return this.note(path, null);
    }
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    if (depth >= this.limits.depth) {
      return this.shorten(path, '[TOO DEEP]');
    }
    return Array.isArray(value) ? this.list(value, path, depth) : this.record(value, path, depth);
  }

  private list(value: unknown[], path: string, depth: number): unknown[] {
    if (value.length > this.limits.items) {
      this.shorten(path);
    }
    return value.slice(0, this.limits.items).map((item, index) => this.value(item, `${path}.${index}`, depth + 1));
  }

  /** No store takes NUL in the name of a field. */
  private name(name: string): string {
    return clipText(this.redact(name).replaceAll('\0', '\uFFFD'), nameBytes);
  }

  private text(value: string, path: string): string {
    const clean = this.redact(value);
    const clipped = clipText(clean, this.limits.stringBytes);
    if (clipped !== clean) {
      return this.shorten(path, clipped);
    }
    return clipped === value ? value : this.note(path, clipped);
  }

  private shorten<T>(path: string, result?: T): T {
    this.cut = true;
    return this.note(path, result);
  }

  private note<T>(path: string, result?: T): T {
    if (this.changed.length < listedFields) {
      this.changed.push(clipText(path, nameBytes));
    }
    return result as T;
  }
}

/** Numbers and flags under such a name describe a secret; anything else may be one. */
const isSecret = (name: string, value: unknown): boolean =>
  isSecretName(name) && (typeof value === 'string' || (typeof value === 'object' && value !== null));

/**
 * Makes a payload fit the limits of an event and removes secrets from it. A payload that is too long even so is
 * replaced by the beginning of its text.
 *
 * @param options.originalBytes what it was read from, when that is more than the payload itself
 * @param options.maxBytes of the payload as JSON, when something is to be added to it
 * @param options.hidden paths in which something was hidden before
 */
export function boundedPayload(
  value: Record<string, unknown>,
  redact: Redactor,
  {
    originalBytes = 0,
    maxBytes = payloadLimits.bytes,
    hidden = [],
  }: { originalBytes?: number; maxBytes?: number; hidden?: string[] } = {},
): BoundedPayload {
  const bounds = new Bounds(redact, payloadLimits, [...hidden]);
  const payload = bounds.record(value, '', 0);
  const json = JSON.stringify(payload);
  const bytes = Buffer.byteLength(json);
  const original = Math.max(originalBytes, bytes);
  if (bytes > maxBytes) {
    const preview = { truncated: true, preview: clipText(json, payloadLimits.stringBytes) };
    const previewBytes = Buffer.byteLength(JSON.stringify(preview));
    return {
      payload: preview,
      bytes: previewBytes,
      redaction: { status: 'dropped', fields: ['*'], originalBytes: original, persistedBytes: previewBytes },
      cut: true,
    };
  }
  const status = bounds.changed.length > 0 ? 'redacted' : 'none';
  return {
    payload,
    bytes,
    redaction: { status, fields: bounds.changed, originalBytes: original, persistedBytes: bytes },
    cut: bounds.cut,
  };
}

/** The whole payload without its secrets, as JSON. */
export function redactedJson(value: Record<string, unknown>, redact: Redactor): string {
  return JSON.stringify(new Bounds(redact, unlimited).record(value, '', 0));
}
