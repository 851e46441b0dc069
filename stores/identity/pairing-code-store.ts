import type { PairingCodeCreate } from '../../contracts/identity/device';
import {
  isSecretOf,
  newSecretToken,
  parseSecretToken,
  secretHash,
  secretTokenText,
} from '../../platform/crypto/secret-token';
import { operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { insertOrGet } from '../port/insert';
import { insertBounded } from './insert-bounded';

/** What is stored of a pairing code. */
export interface PairingCodeRecord extends Stored, PairingCodeCreate {
  workspaceId: string;
  /** Of the administrator who made it: the device acts as a device of this member. */
  userId: string;
  membershipId: string;
  hash: string;
  createdAt: string;
  createdBy: string;
  expiresAt: string;
  /** `used` by the one exchange with this digest. */
  state: 'open' | 'used';
  usedFor?: string;
  usedAt?: string;
}

interface Nonce extends Stored {
  /** The digest of the exchange that it was used in. */
  usedFor: string;
  usedAt: string;
}

/** How long a code can be redeemed, in milliseconds. */
export const pairingCodeLifetimeMs = 5 * 60_000;
/** How far the clock of a device may be off, in milliseconds. */
export const signedAtToleranceMs = 2 * 60_000;
export const maxOpenCodes = 50;

/** A nonce is remembered for longer than a signature with it could be accepted, in seconds. */
const nonceSeconds = (3 * signedAtToleranceMs) / 1_000;

const recordId = (id: string): string => `pairing_${id}`;

export type NewPairingCode = PairingCodeCreate &
  Pick<PairingCodeRecord, 'workspaceId' | 'userId' | 'membershipId' | 'createdBy'>;

/** Codes with which devices are paired, each once, and the nonces of the exchanges. */
export async function createPairingCodeStore(db: Database, now: () => Date = operationTime) {
  const codes = await db.collection<PairingCodeRecord>({
    name: 'pairing-codes',
    indexes: [{ keys: { workspaceId: 1, state: 1, expiresAt: 1 } }],
    expire: { field: 'expiresAt', afterSeconds: 3_600 },
  });
  const nonces = await db.collection<Nonce>({
    name: 'pairing-nonces',
    expire: { field: 'usedAt', afterSeconds: nonceSeconds },
  });

  return {
    /** Stores a new code; its text is returned here only. @throws RefusedError `IDENTITY_LIMIT_REACHED` */
    async create(fields: NewPairingCode): Promise<{ record: PairingCodeRecord; code: string }> {
      const token = newSecretToken();
      const at = now();
      const record: PairingCodeRecord = {
        _id: recordId(token.id),
        ...fields,
        hash: secretHash(token.secret),
        state: 'open',
        createdAt: at.toISOString(),
        expiresAt: new Date(at.getTime() + pairingCodeLifetimeMs).toISOString(),
      };
      const { workspaceId } = fields;
      const among = { workspaceId, state: 'open' as const, expiresAt: { $gt: at.toISOString() } };
      await insertBounded(codes, record, { among, max: maxOpenCodes, of: 'open pairing codes' });
      return { record, code: secretTokenText('rbp', token) };
    },

    /** The code that this text is, whatever has become of it, and the secret in it. */
    async ofText(text: string): Promise<{ record: PairingCodeRecord; secret: string } | undefined> {
      const token = parseSecretToken('rbp', text);
      const record = token && (await codes.get(recordId(token.id)));
      return record && isSecretOf(record.hash, token.secret) ? { record, secret: token.secret } : undefined;
    },

    /** Whether the nonce belongs to this exchange: it was never used, or in an earlier try of the same exchange. */
    async claimNonce(nonce: string, usedFor: string): Promise<boolean> {
      const used = await insertOrGet(nonces, { _id: secretHash(nonce), usedFor, usedAt: now().toISOString() });
      return used.usedFor === usedFor;
    },

    /** Uses an open code for one exchange; whether it is used for that, now or before. */
    async use({ _id }: PairingCodeRecord, usedFor: string): Promise<boolean> {
      const at = now().toISOString();
      const used = await codes.findOneAndUpdate(
        { _id, state: 'open', expiresAt: { $gt: at } },
        { $set: { state: 'used', usedFor, usedAt: at } },
      );
      return used?.usedFor === usedFor || (await codes.get(_id))?.usedFor === usedFor;
    },
  };
}
