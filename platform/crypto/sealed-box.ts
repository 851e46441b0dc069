import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** A key whose private half never leaves this process, for one response that others store on its way here. */
export interface SealedBoxKey {
  /** What the responder needs: base64url of the public key (DER, SPKI). */
  publicKey: string;
  /** @throws Error when the box was sealed for another key or context, or was changed */
  open(sealed: SealedBox, context: string): string;
}

/** Ciphertext with what its key's holder needs to open it; each part is base64url. */
export interface SealedBox {
  /** Public half of the sender's ephemeral key. */
  sender: string;
  nonce: string;
  ciphertext: string;
  tag: string;
}

const cipher = 'aes-256-gcm';

/** A fresh X25519 key pair. */
export function createSealedBoxKey(): SealedBoxKey {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const own = encode(publicKey);
  return {
    publicKey: own,
    open: ({ sender, nonce, ciphertext, tag }, context) => {
      const key = keyFor(diffieHellman({ privateKey, publicKey: decode(sender) }), own, sender);
      const decipher = createDecipheriv(cipher, key, Buffer.from(nonce, 'base64url'));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(Buffer.from(tag, 'base64url'));
      return Buffer.concat([decipher.update(Buffer.from(ciphertext, 'base64url')), decipher.final()]).toString('utf8');
    },
  };
}

/**
 * Encrypts a text so that only the holder of the key can read it (X25519, HKDF-SHA-256, AES-256-GCM).
 *
 * @param context what the text belongs to; the box opens for the same context only
 */
export function seal(recipient: string, text: string, context: string): SealedBox {
  const ephemeral = generateKeyPairSync('x25519');
  const sender = encode(ephemeral.publicKey);
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: decode(recipient) });
  const nonce = randomBytes(12);
  const encipher = createCipheriv(cipher, keyFor(shared, recipient, sender), nonce);
  encipher.setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([encipher.update(text, 'utf8'), encipher.final()]);
  return {
    sender,
    nonce: nonce.toString('base64url'),
    ciphertext: ciphertext.toString('base64url'),
    tag: encipher.getAuthTag().toString('base64url'),
  };
}

/** Both public keys go into the derivation, so that a box cannot be passed off as another's. */
const keyFor = (shared: Buffer, recipient: string, sender: string): Buffer =>
  Buffer.from(hkdfSync('sha256', shared, `${sender}.${recipient}`, 'runboard sealed box v1', 32));

const encode = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64url');

const decode = (text: string): KeyObject =>
  createPublicKey({ key: Buffer.from(text, 'base64url'), type: 'spki', format: 'der' });
