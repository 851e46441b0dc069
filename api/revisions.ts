import { conflict } from '../platform/errors/app-error';
import type { HttpContext } from '../platform/http/context';
import { entityTag, expectedRevision, statedRevisions } from '../platform/http/limits/precondition';

interface Versioned {
  id: string;
  revision: number;
}

/** Returns a configured record with its revision in the headers. */
export function withRevision<T extends Versioned>(ctx: HttpContext, type: string, record: T): T {
  ctx.set('ETag', entityTag({ type, id: record.id, revision: record.revision }));
  ctx.set('X-Resource-Revision', String(record.revision));
  return record;
}

/** The revision at which a writer expects the record; `undefined` when it states none. */
export const statedRevision = (
  type: string,
  id: string,
  header: (name: string) => string | undefined,
  records: { get(id: string): Promise<Versioned | undefined> },
): Promise<number | undefined> =>
  expectedRevision(statedRevisions(type, id, { header }), async () => (await records.get(id))?.revision);

/**
 * @param shown the record as callers see it
 * @throws AppError 409 with the present record when it is not at the revision a writer states
 */
export function assertRevision(
  resourceType: string,
  current: Versioned,
  expectedRevision: number | undefined,
  shown: unknown = current,
): void {
  if (expectedRevision === undefined || expectedRevision === current.revision) {
    return;
  }
  throw conflict('It has changed since it was loaded. Reload and retry with the latest revision.', {
    resourceType,
    resourceId: current.id,
    expectedRevision,
    currentRevision: current.revision,
    current: shown,
  });
}
