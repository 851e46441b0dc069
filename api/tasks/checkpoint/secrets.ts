import { validationError } from '../../../platform/errors/app-error';
import { createRedactor, isSecretName } from '../../../platform/log/redact';

/** A state is data, not a program: more levels than this are a mistake or an attack. */
const maxDepth = 32;

const redact = createRedactor();

/** Parts of names that mark the value as secret by themselves. */
const secretPart = /password|passwd|passphrase|secret|credential|cookie|webhook|token|api-?key|private-?key/;
/** Words that mark it only as a whole word: `key` does, `keyboard` and `monkey` do not. */
const secretWord = /(?:^|-)(?:keys?|auth|authorization|sessions?|session-?id|jwt|bearer)(?:-|$)/;

/** A name in lower case with a dash between its words, however it is written: `apiKey`, `API_KEY`, `api key`. */
const inWords = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();

/** Whether a field is left out by its name. A number under a plural is a count: `inputTokens: 1200`. */
function isSecretField(name: string, value: unknown): boolean {
  if (typeof value === 'boolean' || value === null) {
    return false;
  }
  if (typeof value === 'number' && /s$/i.test(name)) {
    return false;
  }
  const words = inWords(name);
  return isSecretName(name) || secretPart.test(words) || secretWord.test(words);
}

/**
 * A state without what resembles a secret: fields with such names are left out, such texts become `[REDACTED]`.
 *
 * @throws AppError 400 when the state has too many levels
 */
export function withoutSecrets(state: Record<string, unknown>): Record<string, unknown> {
  return cleanRecord(state, 1);
}

function cleanRecord(record: object, depth: number): Record<string, unknown> {
  const fields = Object.entries(record).filter(([name, value]) => name !== '__proto__' && !isSecretField(name, value));
  return Object.fromEntries(fields.map(([name, value]) => [redact(name), clean(value, depth)]));
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    return redact(value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= maxDepth) {
    throw validationError([{ path: 'state', message: `must have at most ${maxDepth} levels`, code: 'too_big' }]);
  }
  return Array.isArray(value) ? value.map((item) => clean(item, depth + 1)) : cleanRecord(value, depth + 1);
}
