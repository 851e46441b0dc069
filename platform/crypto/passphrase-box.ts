import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';

/** A text that opens with the passphrase it was closed with; each part is base64url. */
export interface PassphraseBox {
  salt: string;
  nonce: string;
  ciphertext: string;
  tag: string;
}

const cipher = 'aes-256-gcm';

/** About 30 ms for each guess at a passphrase that is weak. */
const cost = { N: 16_384, r: 8, p: 1 };

/**
 * Encrypts a text with a key derived from a passphrase (scrypt, AES-256-GCM).
 *
 * @param context what the text belongs to; the box opens for the same context only
 */
export async function closeWithPassphrase(passphrase: string, text: string, context: string): Promise<PassphraseBox> {
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const encipher = createCipheriv(cipher, await keyFrom(passphrase, salt), nonce);
  encipher.setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([encipher.update(text, 'utf8'), encipher.final()]);
  return {
    salt: salt.toString('base64url'),
    nonce: nonce.toString('base64url'),
    ciphertext: ciphertext.toString('base64url'),
    tag: encipher.getAuthTag().toString('base64url'),
  };
}

/** @throws Error when the box was closed with another passphrase or for another context, or was changed */
export async function openWithPassphrase(passphrase: string, box: PassphraseBox, context: string): Promise<string> {
  const key = await keyFrom(passphrase, Buffer.from(box.salt, 'base64url'));
  const decipher = createDecipheriv(cipher, key, Buffer.from(box.nonce, 'base64url'));
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(Buffer.from(box.tag, 'base64url'));
  return Buffer.concat([decipher.update(Buffer.from(box.ciphertext, 'base64url')), decipher.final()]).toString('utf8');
}

const keyFrom = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase, salt, 32, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });
