import type { DeviceSession } from '../../contracts/identity/device';
import { isSecretOf, parseSecretToken, secretHash, type SecretToken } from '../../platform/crypto/secret-token';
import type { Page, PageRequest } from '../../platform/lists/page';
import { operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { DuplicateKeyError } from '../port/errors';
import { findPage } from '../port/find-page';
import { insertBounded } from './insert-bounded';
import { recordUse } from './last-use';

/** What is stored of a device session. */
export interface DeviceRecord extends Stored, Omit<DeviceSession, 'id' | 'state'> {
  hash: string;
  isRevoked: boolean;
  /** When it is accepted no more; it is listed for a while then. */
  endsAt: string;
}

export type NewDevice = Omit<
  DeviceSession,
  'id' | 'state' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'testedAt' | 'revokedAt' | 'revokedBy'
>;

/** How long a device stays paired, in milliseconds: 30 days, and no use of it prolongs that. */
export const deviceSessionLifetimeMs = 30 * 86_400_000;
export const maxDevices = 200;
/** How long sessions are listed that have expired or were revoked, in days. */
const listedDays = 90;

export const deviceRecordId = (id: string): string => `device_${id}`;

/** Sessions of paired devices, with the hashes of their tokens. */
export async function createDeviceStore(db: Database, now: () => Date = operationTime) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const devices = await db.collection<DeviceRecord>({
    name: 'device-sessions',
    indexes: [{ keys: { workspaceId: 1, isRevoked: 1, expiresAt: 1 } }, { keys: { workspaceId: 1, ...newest } }],
    expire: { field: 'endsAt', afterSeconds: listedDays * 86_400 },
  });

  /** The sessions of a workspace that count towards its limit. */
  const accepted = (workspaceId: string) => ({
    workspaceId,
    isRevoked: false,
    expiresAt: { $gt: now().toISOString() },
  });

  return {
    /** Whether a workspace may have one more. */
    hasRoom: async (workspaceId: string): Promise<boolean> => (await devices.count(accepted(workspaceId))) < maxDevices,

    /**
     * Stores the session of a token, unless an earlier try of the same exchange did; then that one.
     *
     * @throws RefusedError `IDENTITY_LIMIT_REACHED`
     */
    async createOnce(fields: NewDevice, { id, secret }: SecretToken): Promise<DeviceRecord> {
      const before = await devices.get(deviceRecordId(id));
      if (before) {
        return before;
      }
      const at = now();
      const expiresAt = new Date(at.getTime() + deviceSessionLifetimeMs).toISOString();
      const record: DeviceRecord = {
        _id: deviceRecordId(id),
        ...fields,
        hash: secretHash(secret),
        isRevoked: false,
        createdAt: at.toISOString(),
        expiresAt,
        endsAt: expiresAt,
      };
      const bound = { among: accepted(fields.workspaceId), max: maxDevices, of: 'paired devices' };
      try {
        await insertBounded(devices, record, bound);
        return record;
      } catch (error) {
        // Another try of the same exchange was first.
        const first = error instanceof DuplicateKeyError ? await devices.get(record._id) : undefined;
        if (!first) {
          throw error;
        }
        return first;
      }
    },

    /** A session of a workspace. */
    async get(workspaceId: string, id: string): Promise<DeviceRecord | undefined> {
      const record = await devices.get(id);
      return record?.workspaceId === workspaceId ? record : undefined;
    },

    /** The session of an id, in whichever workspace. */
    find: (id: string): Promise<DeviceRecord | undefined> => devices.get(id),

    /** The newest first. */
    list: (workspaceId: string, part: PageRequest): Promise<Page<DeviceRecord>> =>
      findPage(devices, { filter: { workspaceId }, order: { key: 'createdAt', direction: -1 } }, part),

    /** The session that a credential is of, unless it was revoked or has expired. */
    async presented(text: string): Promise<DeviceRecord | undefined> {
      const token = parseSecretToken('rbd', text);
      const record = token && (await devices.get(deviceRecordId(token.id)));
      const isAccepted = record && !record.isRevoked && Date.parse(record.expiresAt) > now().getTime();
      return isAccepted && isSecretOf(record.hash, token.secret) ? record : undefined;
    },

    noteUse: (record: DeviceRecord) => recordUse(devices, record, now()),

    noteTest: ({ _id }: DeviceRecord) => devices.findOneAndUpdate({ _id }, { $set: { testedAt: now().toISOString() } }),

    /** The revoked session; it stays as it was when it was revoked before. */
    async revoke({ _id }: DeviceRecord, revokedBy: string): Promise<DeviceRecord | undefined> {
      const at = now().toISOString();
      const revoked = await devices.findOneAndUpdate(
        { _id, isRevoked: false },
        { $set: { isRevoked: true, revokedAt: at, revokedBy, endsAt: at } },
      );
      return revoked ?? devices.get(_id);
    },
  };
}
