import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** API tokens, device sessions, pairing codes and invitations, by what their text begins with. */
export type SecretTokenKind = 'rbk' | 'rbd' | 'rbp' | 'rbi';

/** What a token consists of: the id of its record, and 32 random bytes as base64url. */
export interface SecretToken {
  /** 24 hexadecimal digits. */
  id: string;
  secret: string;
}

const shape = /^(rb[kdpi])_([0-9a-f]{24})_([A-Za-z0-9_-]{43})$/;

/** A new token. Only the SHA-256 of its secret is to be stored. */
export const newSecretToken = (id = randomBytes(12).toString('hex')): SecretToken => ({
  id,
  secret: randomBytes(32).toString('base64url'),
});

/** `<kind>_<id>_<secret>`: in a shape that is redacted wherever it is recorded by mistake. */
export const secretTokenText = (kind: SecretTokenKind, { id, secret }: SecretToken): string =>
  `${kind}_${id}_${secret}`;

/** The token in a text; undefined for any other kind and for what is none. */
export function parseSecretToken(kind: SecretTokenKind, text: string): SecretToken | undefined {
  const [, found, id = '', secret = ''] = shape.exec(text) ?? [];
  return found === kind ? { id, secret } : undefined;
}

const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** What is stored of a secret: its SHA-256 as base64url. */
export const secretHash = (secret: string): string => sha256(secret).toString('base64url');

/** Whether it is the secret with this hash, compared in constant time. */
export function isSecretOf(hash: string, secret: string): boolean {
  const expected = Buffer.from(hash, 'base64url');
  const actual = sha256(secret);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/**
 * The token that follows from a secret that its holder exchanges for it: the same for the same exchange, so that a repetition
 * whose first response was lost gets it again, and nothing of it is stored.
 *
 * @param exchange names what is exchanged, with all that the holder has sent
 */
export const exchangedToken = (secret: string, exchange: string): SecretToken => {
  const derive = (part: string) => createHmac('sha256', secret).update(`${part}\n${exchange}`).digest();
  return { id: derive('id').toString('hex').slice(0, 24), secret: derive('secret').toString('base64url') };
};
