import type { HttpContext } from '../../platform/http/context';
import { entityTag, expectedRevision, statedRevisions } from '../../platform/http/precondition';

interface Versioned {
  id: string;
  revision: number;
}

/** Answers a configured record with its revision in the headers. */
export function withRevision<T extends Versioned>(ctx: HttpContext, type: string, record: T): T {
  ctx.set('ETag', entityTag({ type, id: record.id, revision: record.revision }));
  ctx.set('X-Resource-Revision', String(record.revision));
  return record;
}

/** The revision a writer says the record is at; `undefined` when it says none. */
export const statedRevision = (
  type: string,
  id: string,
  header: (name: string) => string | undefined,
  records: { get(id: string): Promise<Versioned | undefined> },
): Promise<number | undefined> =>
  expectedRevision(statedRevisions(type, id, { header }), async () => (await records.get(id))?.revision);
