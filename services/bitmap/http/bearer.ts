import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether an `Authorization` header authenticates its sender. */
export type BearerCheck = (header: string | undefined) => boolean;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param token what callers must present as a bearer token */
export function bearerCheck(token: string): BearerCheck {
  const expectedDigest = sha256(token);
  return (header) => {
    const presented = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
    return presented !== undefined && timingSafeEqual(sha256(presented), expectedDigest);
  };
}
