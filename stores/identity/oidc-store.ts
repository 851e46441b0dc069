import { createHash, randomBytes } from 'node:crypto';
import type { Role } from '../../contracts/permissions';
import type { Database, Stored } from '../port/collection';
import { insertOnce, insertOrGet } from '../port/insert';

/** A person as a provider knows it, and the user that it is here: by issuer and subject, never by an address. */
export interface ExternalIdentity extends Stored {
  issuer: string;
  subject: string;
  userId: string;
  /** What the provider gave at the last sign-in; null when it gave nothing. */
  role: Role | null;
  /** The membership was suspended because the provider gave nothing. */
  isSuspended: boolean;
  createdAt: string;
  signedInAt: string;
}

/** Something that counts once. */
interface UsedProof extends Stored {
  endsAt: string;
}

/** A session at the provider, and whose it is. */
interface ProviderSession extends Stored {
  userId: string;
  endsAt: string;
}

const digest = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** The users of a provider of OpenID Connect, and what of it counts once. */
export async function createOidcStore(db: Database, now: () => Date = () => new Date()) {
  const identities = await db.collection<ExternalIdentity>({
    name: 'external-identities',
    indexes: [{ keys: { userId: 1 }, unique: true }],
  });
  const used = await db.collection<UsedProof>({
    name: 'oidc-used-proofs',
    expire: { field: 'endsAt', afterSeconds: 60 },
  });
  const sessions = await db.collection<ProviderSession>({
    name: 'oidc-sessions',
    expire: { field: 'endsAt', afterSeconds: 60 },
  });
  const after = (ms: number): string => new Date(now().getTime() + ms).toISOString();

  return {
    /** Records what the provider gives a person now, and makes the user's id at its first sign-in. */
    async grant(issuer: string, subject: string, role: Role | null): Promise<ExternalIdentity> {
      const _id = digest(issuer, subject);
      const at = now().toISOString();
      const userId = `user_${randomBytes(6).toString('hex')}`;
      const made = { _id, issuer, subject, userId, role, isSuspended: false, createdAt: at, signedInAt: at };
      await insertOrGet(identities, made);
      const granted = await identities.findOneAndUpdate({ _id }, { $set: { role, signedInAt: at } });
      return granted ?? made;
    },

    /** Notes who has suspended the membership: the provider, or else an administrator. */
    setSuspended: (id: string, isSuspended: boolean) =>
      identities.findOneAndUpdate({ _id: id }, { $set: { isSuspended } }),

    find: (issuer: string, subject: string): Promise<ExternalIdentity | undefined> =>
      identities.get(digest(issuer, subject)),

    ofUser: async (userId: string): Promise<ExternalIdentity | undefined> =>
      (await identities.find({ userId }, { limit: 1 }))[0],

    /** Uses a proof, which is remembered for as long as it is valid; whether this was the first time. */
    useOnce: (proof: string, validMs: number): Promise<boolean> =>
      insertOnce(used, { _id: digest(proof), endsAt: after(validMs) }),

    /** Notes whose a session at the provider is. */
    async noteSession(
      issuer: string,
      sid: string,
      { userId, lastsMs }: { userId: string; lastsMs: number },
    ): Promise<void> {
      await sessions.findOneAndUpdate(
        { _id: digest(issuer, sid) },
        { $set: { userId, endsAt: after(lastsMs) } },
        { upsert: true },
      );
    },

    userOfSession: async (issuer: string, sid: string): Promise<string | undefined> =>
      (await sessions.get(digest(issuer, sid)))?.userId,
  };
}
