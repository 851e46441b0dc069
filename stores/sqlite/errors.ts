import { DuplicateKeyError, StoreFullError, StoreUnavailableError } from '../port/errors';

/** Which keys a unique index covers, by the index's name in the file. */
export type UniqueKeys = ReadonlyMap<string, { collection: string; keys: string[] }>;

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

/** Another connection holds a lock that this operation needs; it may be tried again. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}

/** An id or a value of a unique index is that of another row. */
export const isTaken = (error: unknown): boolean => {
  const code = codeOf(error);
  return code === 'SQLITE_CONSTRAINT_PRIMARYKEY' || code === 'SQLITE_CONSTRAINT_UNIQUE';
};

/** The port's error for one of SQLite's; anything else is returned unchanged. */
export function translateError(error: unknown, uniqueKeys: UniqueKeys): unknown {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) {
    return error;
  }
  if (code.startsWith('SQLITE_CONSTRAINT')) {
    const index = /index '(.*)'$/.exec(error.message)?.[1];
    const unique = index === undefined ? undefined : uniqueKeys.get(index);
    if (unique) {
      return new DuplicateKeyError(unique.collection, unique.keys);
    }
    const table = /failed: (.*)\.id$/.exec(error.message)?.[1];
    if (table !== undefined) {
      return new DuplicateKeyError(table, ['_id']);
    }
    return error;
  }
  // Its disk, its quota or its own limit; the shared-memory file is the one that SQLite cannot make without space.
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') {
    return new StoreFullError('the embedded database', { cause: error });
  }
  // SQLITE_ERROR is a mistake in the SQL itself: it must not appear to be curable by a repetition.
  if (code === 'SQLITE_ERROR') {
    return error;
  }
  const message = `The database does not work: ${error.message} (${code}).`;
  return new StoreUnavailableError(message, { cause: error, changedNothing: isBusy(error) });
}
