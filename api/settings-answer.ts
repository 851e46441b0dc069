import type { HttpContext } from '../platform/http/context';
import { entityTag, expectedRevision, statedRevisions } from '../platform/http/limits/precondition';

/** Sets the revision header for a setting that is returned whole. */
export function setRevision(ctx: HttpContext, id: string, revision: number): void {
  ctx.set('ETag', entityTag({ type: 'settings', id, revision }));
  ctx.set('X-Resource-Revision', String(revision));
}

/** The revision of a setting that its writer has seen, as headers or the body state it. */
export const settingPrecondition = (
  id: string,
  header: (name: string) => string | undefined,
  current: () => Promise<{ revision: number }>,
  bodyRevision?: number,
): Promise<number | undefined> =>
  expectedRevision(statedRevisions('settings', id, { header, bodyRevision }), async () => (await current()).revision);
