import { type AppError, validationError } from '../../errors/app-error';

/** The resource a conditional request is about. */
export interface Versioned {
  type: string;
  id: string;
  revision: number;
}

/** Where a caller may state the revision it has seen. */
export interface StatedRevision {
  header: (name: string) => string | undefined;
  bodyRevision?: number;
}

export const entityTag = ({ type, id, revision }: Versioned): string => `"${type}:${id}:${revision}"`;

const malformed = (path: string, message: string): AppError =>
  validationError([{ path, message, code: 'invalid_header' }]);

function revisionOf(text: string, header: string): number {
  const revision = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (revision < 1) {
    throw malformed(header, 'must be a revision: a whole number from 1');
  }
  return revision;
}

/** The revision in one entity tag: a plain integer, or what follows the last colon of `type:id:revision`. */
function revisionOfTag(tag: string, type: string, id: string): number {
  const text = tag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1');
  const own = `${type}:`;
  if (text.startsWith(own) && !text.startsWith(`${own}${id}:`)) {
    throw malformed('If-Match', `is the tag of another ${type}`);
  }
  return revisionOf(text.slice(text.lastIndexOf(':') + 1), 'If-Match');
}

/**
 * The revisions a caller accepts to change, from `If-Match` (a comma list; `*` states nothing), else `X-Resource-Revision`,
 * else the body. Empty when it states none.
 *
 * @throws AppError `VALIDATION_ERROR` 400 for a header that is no revision or the tag of another resource
 */
export function statedRevisions(type: string, id: string, { header, bodyRevision }: StatedRevision): number[] {
  const tags = (header('If-Match') ?? '').split(',').map((tag) => tag.trim());
  const revisions = tags.filter((tag) => tag !== '' && tag !== '*').map((tag) => revisionOfTag(tag, type, id));
  if (revisions.length > 0) {
    return revisions;
  }
  const plain = header('X-Resource-Revision');
  if (plain !== undefined) {
    return [revisionOf(plain.trim(), 'X-Resource-Revision')];
  }
  return bodyRevision === undefined ? [] : [bodyRevision];
}

/**
 * The one revision to compare with under the lock. Of several, the current one if it is among them: should it change
 * before the lock is taken, the comparison still fails, as it must.
 */
export async function expectedRevision(
  stated: number[],
  current: () => Promise<number | undefined>,
): Promise<number | undefined> {
  if (stated.length <= 1) {
    return stated[0];
  }
  const revision = await current();
  return revision !== undefined && stated.includes(revision) ? revision : stated[0];
}
