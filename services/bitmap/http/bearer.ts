import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether an `Authorization` header authenticates its sender. */
export type BearerCheck = (header: string | undefined) => boolean;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param token what callers must present as a bearer token */
export function bearerCheck(token: string): BearerCheck {
  const wanted = sha256(token);
  return (header) => {
    const given = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
    return given !== undefined && timingSafeEqual(sha256(given), wanted);
  };
}
