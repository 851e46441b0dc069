import { createHash, createPublicKey, verify } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Whether a device has signed a value with its key (Ed25519 over the canonical JSON, RFC 8785).
 *
 * @param publicKey 32 bytes as base64url
 * @param signature 64 bytes as base64url
 */
export function isSignedBy(publicKey: string, signature: string, value: unknown): boolean {
  const text = canonicalize(value);
  if (text === undefined) {
    return false;
  }
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    // No point of the curve.
    return false;
  }
}

/** SHA-256 of a public key as hexadecimal digits, for people to compare. */
export const keyFingerprint = (publicKey: string): string =>
  createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex');
