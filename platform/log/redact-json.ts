import { cut } from '../text/cut';
import { isSecretName, redactedMark, type Redactor } from './redact';

/** Bounds of one document that is stored for people to read. */
export interface JsonBounds {
  /** Of the document as JSON; a longer one is replaced by the beginning of its text. `Infinity`: as long as it is. */
  bytes: number;
  depth: number;
  items: number;
}

export interface RedactedJson {
  value: Record<string, unknown>;
  /** Whether anything was taken out or cut. */
  changed: boolean;
}

/**
 * A JSON document without secrets: texts of the shapes the redactor knows, and texts in fields with the name of a secret. Lists
 * and objects beyond the bounds are cut. Names inherited by every object are omitted, and NUL in a name, which no store takes,
 * becomes U+FFFD.
 */
export function redactJson(document: Record<string, unknown>, redact: Redactor, bounds: JsonBounds): RedactedJson {
  let changed = false;
  const note = <T>(value: T): T => {
    changed = true;
    return value;
  };
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') {
      const clean = redact(value);
      return clean === value ? value : note(clean);
    }
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    if (depth >= bounds.depth) {
      return note('[TOO DEEP]');
    }
    if (Array.isArray(value)) {
      return (value.length > bounds.items ? note(value.slice(0, bounds.items)) : value).map((item) =>
        walk(item, depth + 1),
      );
    }
    return record(value, depth);
  };
  const storedName = (name: string): string => {
    const clean = redact(name).replaceAll('\0', '\ufffd');
    return clean === name ? name : note(clean);
  };
  const record = (value: object, depth: number): Record<string, unknown> => {
    const entries = Object.entries(value).filter(([name, item]) => item !== undefined && name !== '__proto__');
    const bounded = entries.length > bounds.items ? note(entries.slice(0, bounds.items)) : entries;
    return Object.fromEntries(
      bounded.map(([name, item]) => [
        storedName(name),
        isSecretName(name) && typeof item === 'string' ? note(redactedMark) : walk(item, depth + 1),
      ]),
    );
  };

  const clean = record(document, 0);
  if (bounds.bytes === Infinity) {
    return { value: clean, changed };
  }
  const text = JSON.stringify(clean);
  if (Buffer.byteLength(text) <= bounds.bytes) {
    return { value: clean, changed };
  }
  return { value: { truncated: true, preview: cut(text, Math.floor(bounds.bytes / 4)) }, changed: true };
}
