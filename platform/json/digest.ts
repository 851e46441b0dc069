import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** `sha256:` and the SHA-256 of the RFC 8785 canonical form of a JSON value. */
export function digestOf(value: unknown): string {
  const canonical = canonicalize(value);
  if (canonical === undefined) {
    throw new TypeError('Only JSON values have a digest.');
  }
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`;
}

/** `sha256:` and the SHA-256 of a text. */
export const textDigest = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** The document with the digest of everything else in it. */
export const withDigest = <T extends object>(document: T): T & { digest: string } => ({
  ...document,
  digest: digestOf(document),
});
