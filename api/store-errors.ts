import { AppError, conflict } from '../platform/errors/app-error';
import { DiskFullError, isDiskFull } from '../platform/errors/disk-full';
import { DuplicateKeyError, StaleRevisionError, StoreFullError, StoreUnavailableError } from '../stores/errors';

/** What an error of the stores is to a caller; `undefined` for what is no error of the stores. */
export function translateStoreError(error: unknown): AppError | undefined {
  if (error instanceof StoreFullError) return full(error.store);
  if (error instanceof DiskFullError) return full(error.where);
  if (isDiskFull(error)) return full('the service');
  if (error instanceof StoreUnavailableError) {
    return new AppError('STORE_UNAVAILABLE', 503, 'The store does not answer. Try again in a moment.');
  }
  if (error instanceof DuplicateKeyError) return conflict('This exists already.', { resourceType: error.collection });
  if (error instanceof StaleRevisionError) {
    return conflict('It has changed since it was loaded. Reload and retry with the latest revision.', {
      resourceType: error.collection,
      resourceId: error.id,
      expectedRevision: error.expectedRevision,
      currentRevision: error.current.revision,
      current: error.current.shown,
    });
  }
  return undefined;
}

/** 507: what is full, without where on the machine it is; the log has the path. */
const full = (where: string): AppError =>
  new AppError(
    'STORAGE_FULL',
    507,
    `There is no space left for ${where}. Free some, or raise its limit, then try again.`,
    {
      full: where,
    },
  );
