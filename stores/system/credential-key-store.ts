import { createHash, randomBytes } from 'node:crypto';
import { closeWithPassphrase, openWithPassphrase, type PassphraseBox } from '../../platform/crypto/passphrase-box';
import { hideOwnSecrets } from '../../platform/log/own-secrets';
import type { Database, Stored } from '../port/collection';
import { insertOrGet } from '../port/insert';

interface CredentialKey extends Stored {
  /** 32 random bytes as base64url. */
  key: string;
}

/** A secret as it is stored, with the name of the key that opens it. */
export interface SealedCredential extends PassphraseBox {
  keyId: string;
}

const storedKeyId = 'credentials';

const idOf = (key: string): string =>
  createHash('sha256').update(`runboard credential key\n${key}`).digest('base64url').slice(0, 12);

/**
 * Seals credentials that are written and never returned. Without a configured key, one is made in the stores: then what is
 * sealed is safe from readers of single records and of exports, and not from those of the whole database.
 */
export async function openCredentialSeal(db: Database, configured: string | undefined) {
  const keys = await db.collection<CredentialKey>({ name: 'credential-keys' });
  const own = async (): Promise<string> => {
    const fresh = { _id: storedKeyId, key: randomBytes(32).toString('base64url') };
    return ((await keys.get(storedKeyId)) ?? (await insertOrGet(keys, fresh))).key;
  };
  const key = configured ?? (await own());
  hideOwnSecrets([key]);
  const keyId = idOf(key);

  return {
    /** @param context what the secret belongs to; it opens for the same context only */
    seal: async (secret: string, context: string): Promise<SealedCredential> => ({
      ...(await closeWithPassphrase(key, secret, context)),
      keyId,
    }),

    /** `undefined` when it was sealed with another key, for another context, or was changed. */
    async open({ keyId: sealedWith, ...box }: SealedCredential, context: string): Promise<string | undefined> {
      return sealedWith === keyId ? openWithPassphrase(key, box, context).catch(() => undefined) : undefined;
    },
  };
}

export type CredentialSeal = Awaited<ReturnType<typeof openCredentialSeal>>;
