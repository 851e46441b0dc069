import { randomUUID } from 'node:crypto';

/** A database of its own on the MongoDB the tests were given, if they were. */
export function mongoSettings(): Record<string, string> {
  if (!process.env.MONGODB_URL) {
    return {};
  }
  const url = new URL(process.env.MONGODB_URL);
  url.pathname = `/test-${randomUUID().slice(0, 8)}`;
  return { MONGODB_URL: url.href };
}
