import { RefusedError } from '../domain/refusal';
import { AppError, conflict } from '../platform/errors/app-error';
import { DiskFullError, isDiskFull } from '../platform/errors/disk-full';
import { DuplicateKeyError, StaleRevisionError, StoreFullError, StoreUnavailableError } from '../stores/port/errors';
import { refusalError } from './refusal-error';

/** The caller's error for an error of the stores or the domain; `undefined` for any other error. */
export function translateStoreError(error: unknown): AppError | undefined {
  if (error instanceof RefusedError) {
    return refusalError(error.refusal);
  }
  if (error instanceof StoreFullError) {
    return full(error.store);
  }
  if (error instanceof DiskFullError) {
    return full(error.where);
  }
  if (isDiskFull(error)) {
    return full('the service');
  }
  if (error instanceof StoreUnavailableError) {
    return new AppError('STORE_UNAVAILABLE', {
      status: 503,
      message: 'The store does not respond. Try again in a moment.',
    });
  }
  if (error instanceof DuplicateKeyError) {
    return conflict('The record already exists.', { resourceType: error.collection });
  }
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

/** 507: what is full, without its location on the machine; the log has the path. */
const full = (where: string): AppError =>
  new AppError('STORAGE_FULL', {
    status: 507,
    message: `There is no space left for ${where}. Free some, or raise its limit, then try again.`,
    details: { full: where },
  });
