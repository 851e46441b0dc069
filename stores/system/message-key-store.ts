import { randomBytes } from 'node:crypto';
import { createMessageProofs, type MessageProofs } from '../../platform/crypto/message-proof';
import { hideOwnSecrets } from '../../platform/log/own-secrets';
import type { Database, Stored } from '../port/collection';
import { insertOrGet } from '../port/insert';

interface MessageKey extends Stored {
  /** 32 random bytes as base64url. */
  key: string;
  createdAt: string;
}

const keyId = 'messages';

/**
 * The key that messages through Temporal are proven with. Made once for everything that shares these stores, by the first
 * process: nothing has to be configured, and only readers of the stores have it.
 */
export async function openMessageProofs(db: Database, now: () => Date = () => new Date()): Promise<MessageProofs> {
  const keys = await db.collection<MessageKey>({ name: 'message-keys' });
  const fresh = { _id: keyId, key: randomBytes(32).toString('base64url'), createdAt: now().toISOString() };
  const { key } = (await keys.get(keyId)) ?? (await insertOrGet(keys, fresh));
  hideOwnSecrets([key]);
  return createMessageProofs(Buffer.from(key, 'base64url'), now);
}
