import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeWithPassphrase, openWithPassphrase, type PassphraseBox } from '../../platform/crypto/passphrase-box';
import type { Database, Stored } from '../port/collection';
import { insertOrGet } from '../port/insert';

interface CallbackSecret extends Stored {
  /** SHA-256 of the secret as base64url. */
  hash: string;
  /** The secret, sealed by the launch's idempotency key, which is stored nowhere. */
  sealed?: PassphraseBox;
  issuedAt: string;
  issuedTo: string;
}

/** 256 random bits, in a shape that is redacted wherever it is recorded by mistake. */
const newSecret = (): string => `rbcs_${randomBytes(32).toString('base64url')}`;

const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Secrets by which remote agents prove that an attempt is theirs, one for each attempt. Only hashes are stored. */
export async function createCallbackSecretStore(db: Database, now: () => Date = () => new Date()) {
  const secrets = await db.collection<CallbackSecret>({ name: 'callback-secrets' });

  async function draft(attemptId: string, issuedTo: string, launchKey?: string) {
    const secret = newSecret();
    const sealed = launchKey === undefined ? undefined : await closeWithPassphrase(launchKey, secret, attemptId);
    const hash = sha256(secret).toString('base64url');
    const record = { _id: attemptId, hash, issuedAt: now().toISOString(), issuedTo, ...(sealed ? { sealed } : {}) };
    return { secret, record };
  }

  return {
    /**
     * The secret of an attempt for its launcher: a new one the first time, the same one again for a repetition under the same
     * idempotency key.
     *
     * @returns `undefined` when it was issued before, and cannot be returned again
     */
    async forLaunch(attemptId: string, issuedTo: string, launchKey: string | undefined): Promise<string | undefined> {
      let stored = await secrets.get(attemptId);
      if (!stored) {
        const { secret, record } = await draft(attemptId, issuedTo, launchKey);
        stored = await insertOrGet<CallbackSecret>(secrets, record);
        if (stored.hash === record.hash) {
          return secret;
        }
      }
      if (!stored.sealed || launchKey === undefined) {
        return undefined;
      }
      return openWithPassphrase(launchKey, stored.sealed, attemptId);
    },

    /** Issues another secret; the one before counts no more. */
    async renew(attemptId: string, issuedTo: string): Promise<{ secret: string; issuedAt: string }> {
      const { secret, record } = await draft(attemptId, issuedTo);
      const { _id, ...fields } = record;
      await secrets.findOneAndUpdate({ _id }, { $set: fields, $unset: { sealed: '' } }, { upsert: true });
      return { secret, issuedAt: record.issuedAt };
    },

    /** Whether it is the attempt's secret, compared in constant time. */
    async verify(attemptId: string, secret: string): Promise<boolean> {
      const stored = await secrets.get(attemptId);
      return stored !== undefined && timingSafeEqual(Buffer.from(stored.hash, 'base64url'), sha256(secret));
    },
  };
}
