import { conflict } from '../platform/errors/app-error';
import type { HttpContext } from '../platform/http/context';
import {
  entityTag,
  expectedRevision,
  type StatedRevision,
  statedRevisions,
  type Versioned as VersionedResource,
} from '../platform/http/limits/precondition';

interface Versioned {
  id: string;
  revision: number;
}

/** Sets the headers with the revision of a resource. */
export function setRevision(ctx: HttpContext, resource: VersionedResource): void {
  ctx.set('ETag', entityTag(resource));
  ctx.set('X-Resource-Revision', String(resource.revision));
}

/** Returns a record with its revision in the headers. */
export function withRevision<T extends Versioned>(ctx: HttpContext, type: string, record: T): T {
  setRevision(ctx, { type, id: record.id, revision: record.revision });
  return record;
}

/** A setting that is returned whole, as entity tags name it. */
export const settingResource = (id: string) => ({ type: 'settings', id });

/** The resource that a writer states a revision of. */
export interface StatedResource extends Omit<VersionedResource, 'revision'> {
  current: () => Promise<{ revision: number } | undefined>;
}

/** The revision at which a writer expects the resource, as headers or the body state it; `undefined` when it states none. */
export const statedRevision = (
  { type, id, current }: StatedResource,
  stated: StatedRevision,
): Promise<number | undefined> =>
  expectedRevision(statedRevisions(type, id, stated), async () => (await current())?.revision);

/** @throws AppError 409 with the present record when it is not at the revision a writer states */
export function assertRevision(
  resourceType: string,
  current: Versioned,
  {
    expectedRevision,
    shown = current,
  }: {
    expectedRevision: number | undefined;
    /** The record as callers see it. */
    shown?: unknown;
  },
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
