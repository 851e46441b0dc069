import type { Invitation } from '../../contracts/identity/invitation';
import {
  isSecretOf,
  newSecretToken,
  parseSecretToken,
  secretHash,
  secretTokenText,
} from '../../platform/crypto/secret-token';
import type { Page, PageRequest } from '../../platform/lists/page';
import { operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

/** What is stored of an invitation; whether it can be accepted is decided by its workspace. */
export interface InvitationRecord extends Stored, Omit<Invitation, 'id' | 'state'> {
  hash: string;
}

/** How long an invitation can be accepted, in milliseconds: a week. */
export const invitationLifetimeMs = 7 * 86_400_000;
/** How long it is listed after that, in days. */
const listedDays = 30;

export type NewInvitation = Pick<Invitation, 'workspaceId' | 'email' | 'role' | 'createdBy'>;

const recordId = (id: string): string => `invitation_${id}`;

/** Invitations to workspaces, with the hashes of their tokens. */
export async function createInvitationStore(db: Database, now: () => Date = operationTime) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const invitations = await db.collection<InvitationRecord>({
    name: 'invitations',
    indexes: [{ keys: { workspaceId: 1, ...newest } }],
    expire: { field: 'expiresAt', afterSeconds: listedDays * 86_400 },
  });

  return {
    /** Stores an invitation; the token is returned here only. */
    async create(fields: NewInvitation): Promise<{ record: InvitationRecord; token: string }> {
      const token = newSecretToken();
      const at = now();
      const record: InvitationRecord = {
        _id: recordId(token.id),
        ...fields,
        hash: secretHash(token.secret),
        createdAt: at.toISOString(),
        expiresAt: new Date(at.getTime() + invitationLifetimeMs).toISOString(),
      };
      await invitations.insert(record);
      return { record, token: secretTokenText('rbi', token) };
    },

    get: (id: string): Promise<InvitationRecord | undefined> => invitations.get(id),

    /** The invitation whose token this is, and the secret in it. */
    async ofToken(text: string): Promise<{ record: InvitationRecord; secret: string } | undefined> {
      const token = parseSecretToken('rbi', text);
      const record = token && (await invitations.get(recordId(token.id)));
      return record && isSecretOf(record.hash, token.secret) ? { record, secret: token.secret } : undefined;
    },

    /** The newest first. */
    list: (workspaceId: string, part: PageRequest): Promise<Page<InvitationRecord>> =>
      findPage(invitations, { filter: { workspaceId }, order: { key: 'createdAt', direction: -1 } }, part),

    /** Notes who accepted it. */
    noteAccepted: (id: string, acceptedBy: string) =>
      invitations.findOneAndUpdate(
        { _id: id, acceptedAt: { $exists: false } },
        { $set: { acceptedAt: now().toISOString(), acceptedBy } },
      ),

    /** Notes who revoked it. */
    noteRevoked: (id: string, revokedBy: string) =>
      invitations.findOneAndUpdate(
        { _id: id, revokedAt: { $exists: false } },
        { $set: { revokedAt: now().toISOString(), revokedBy } },
      ),

    /** Removes one that its workspace did not accept. */
    remove: (id: string) => invitations.deleteMany({ _id: id }),
  };
}
