import { randomInt } from 'node:crypto';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A new attempt id: `attempt_` and twelve characters that are easy to read aloud. */
export function newAttemptId(): string {
  return `attempt_${Array.from({ length: 12 }, () => alphabet.charAt(randomInt(alphabet.length))).join('')}`;
}
