import { DiskFullError, isDiskFull } from '../../platform/errors/disk-full';

/** A unique index (or `_id`) has the value already. */
export class DuplicateKeyError extends Error {
  override readonly name = 'DuplicateKeyError';

  constructor(
    readonly collection: string,
    readonly keys: string[],
  ) {
    super(`${collection}: a document with the same ${keys.join(', ')} exists.`);
  }
}

/** No declared index can serve the filter; declare one, or narrow the filter. */
export class UnindexedQueryError extends Error {
  override readonly name = 'UnindexedQueryError';

  constructor(
    readonly collection: string,
    readonly paths: string[],
  ) {
    super(`${collection}: no index serves a query on ${paths.length > 0 ? paths.join(', ') : 'the whole collection'}.`);
  }
}

/** Facts about a write that failed. */
export interface FailedWrite extends ErrorOptions {
  /** Whether the write has certainly not been done; otherwise its outcome is unknown. */
  changedNothing?: boolean;
}

/** The store cannot be reached or does not respond in time; the operation may be repeated. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError';
  readonly changedNothing: boolean;

  constructor(message: string, { changedNothing: nothing = false, ...options }: FailedWrite = {}) {
    super(message, options);
    this.changedNothing = nothing;
  }
}

/** The disk has no space left. What was written before can be read. */
export class StoreFullError extends StoreUnavailableError {
  override readonly name = 'StoreFullError';

  constructor(
    /** What is full, as an operator calls it: `the embedded database`, `MongoDB`. */
    readonly store: string,
    options: ErrorOptions = {},
  ) {
    super(`There is no space left in ${store}.`, { changedNothing: true, ...options });
  }
}

/** Whether missing space is the reason: of a store, or of the disk of a file. */
export const isOutOfSpace = (error: unknown): boolean =>
  error instanceof StoreFullError || error instanceof DiskFullError || isDiskFull(error);

/** Whether a failed write has certainly changed nothing: it was refused, not lost. */
export const changedNothing = (error: unknown): boolean =>
  error instanceof StoreUnavailableError
    ? error.changedNothing
    : error instanceof DuplicateKeyError ||
      error instanceof UnindexedQueryError ||
      error instanceof InvalidOperationError;

/** The current record, for the writer that is refused. */
export interface CurrentRecord {
  /** 0 where there is none. */
  revision: number;
  /** As callers know it; `null` where there is none. */
  shown: unknown;
}

/** The `revision` a writer expected is no longer the current one. */
export class StaleRevisionError extends Error {
  override readonly name = 'StaleRevisionError';

  readonly expectedRevision: number;
  readonly current: CurrentRecord;

  constructor(
    readonly collection: string,
    readonly id: string,
    { expectedRevision, current }: { expectedRevision: number; current: CurrentRecord },
  ) {
    super(`${collection}/${id} is no longer at revision ${expectedRevision}.`);
    this.expectedRevision = expectedRevision;
    this.current = current;
  }
}

/** The scope has its last entry: nothing is appended to it any more. */
export class SealedScopeError extends Error {
  override readonly name = 'SealedScopeError';

  constructor(
    readonly log: string,
    readonly scope: string,
  ) {
    super(`${log}: ${scope} already has its last entry.`);
  }
}

/** The operation is outside what both adapters do alike: an unknown operator, a hostile path, an array on an index. */
export class InvalidOperationError extends Error {
  override readonly name = 'InvalidOperationError';

  constructor(
    readonly collection: string,
    readonly reason: string,
  ) {
    super(`${collection}: ${reason}`);
  }
}
