import { MongoError, MongoServerError } from 'mongodb';
import { DuplicateKeyError, InvalidOperationError, StoreFullError, StoreUnavailableError } from '../port/errors';

const duplicateKey = 11_000;
/** `OutOfDiskSpace`, and the quota of a database. */
const full = new Set([12_501, 14_031]);
/** Codes by which the server reports that an update does not fit the document. */
const doesNotFit = new Set([2, 9, 14, 28, 40, 54, 56, 57]);
/** Codes of an outage that passes: elections, shutdowns, timeouts, write concerns that were not met. */
const passing = new Set([
  6, 7, 50, 64, 79, 89, 91, 100, 112, 134, 189, 202, 262, 317, 358, 9001, 10_107, 11_600, 11_602, 13_435, 13_436,
]);
/** Names of the driver's errors by which it reports misuse by a caller; all its other errors are outages. */
const misuse = new Set(['MongoInvalidArgumentError', 'MongoParseError', 'MongoMissingDependencyError']);

/** The keys of the index that refused, read from the server's `keyPattern` or, for older servers, from the message. */
function duplicateKeys(error: MongoServerError): string[] {
  const pattern: unknown = error.keyPattern;
  if (typeof pattern === 'object' && pattern !== null) {
    return Object.keys(pattern);
  }
  const words = /dup key: \{(.*)\}/.exec(error.message)?.[1] ?? '';
  return [...words.matchAll(/([\w.-]+): /g)].map((match) => match[1] ?? '');
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === duplicateKey;
}

/** The port's error for one of the driver's; anything else is returned unchanged. */
export function translateError(collection: string, error: unknown): unknown {
  if (!(error instanceof MongoError) || misuse.has(error.name)) {
    return error;
  }
  if (isDuplicateKey(error)) {
    return new DuplicateKeyError(collection, duplicateKeys(error));
  }
  if (error instanceof MongoServerError) {
    const code = typeof error.code === 'number' ? error.code : 0;
    if (full.has(code)) {
      return new StoreFullError('MongoDB', { cause: error });
    }
    if (doesNotFit.has(code)) {
      return new InvalidOperationError(collection, error.message);
    }
    if (!passing.has(code) && !error.hasErrorLabel('RetryableWriteError')) {
      return error;
    }
  }
  // No server was selected, so nothing was sent.
  const unsent = error.name === 'MongoServerSelectionError';
  const message = `MongoDB responded unexpectedly: ${error.message}`;
  return new StoreUnavailableError(message, { cause: error, changedNothing: unsent });
}

/** Runs an operation of the driver with the port's errors. */
export async function translated<T>(collection: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw translateError(collection, error);
  }
}
