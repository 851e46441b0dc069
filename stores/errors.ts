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

/** The store cannot be reached or does not answer in time; the operation may be repeated. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** A record as it is now, for the writer that is refused. */
export interface CurrentRecord {
  /** 0 where there is none. */
  revision: number;
  /** As callers know it; `null` where there is none. */
  shown: unknown;
}

/** The `revision` a writer expected is no longer the current one. */
export class StaleRevisionError extends Error {
  override readonly name = 'StaleRevisionError';

  constructor(
    readonly collection: string,
    readonly id: string,
    readonly expectedRevision: number,
    readonly current: CurrentRecord,
  ) {
    super(`${collection}/${id} is no longer at revision ${expectedRevision}.`);
  }
}

/** The last entry of a scope is there: nothing is appended to it any more. */
export class SealedScopeError extends Error {
  override readonly name = 'SealedScopeError';

  constructor(
    readonly log: string,
    readonly scope: string,
  ) {
    super(`${log}: ${scope} has its last entry already.`);
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
