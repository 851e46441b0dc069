import type { Collection, Database, Stored } from '../../port/collection';
import { insertOnce } from '../../port/insert';

/** The password of one user. */
export interface PasswordRecord extends Stored {
  /** Argon2id, with its parameters. */
  passwordHash: string;
  /** SHA-256 of the recovery key, which is random and long. */
  recoveryHash: string;
  /** Counts changes. A session that another password was entered for is none any more, from the moment of the change on. */
  revision: number;
  createdAt: string;
  changedAt: string;
}

export type PasswordHashes = Pick<PasswordRecord, 'passwordHash' | 'recoveryHash'>;

/** Passwords by user. */
export async function createPasswordStore(db: Database, now: () => Date = () => new Date()) {
  const passwords: Collection<PasswordRecord> = await db.collection<PasswordRecord>({ name: 'passwords' });
  return {
    get: (userId: string): Promise<PasswordRecord | undefined> => passwords.get(userId),

    /** Stores the first password of a user; `undefined` when there is one. */
    async create(userId: string, hashes: PasswordHashes): Promise<PasswordRecord | undefined> {
      const at = now().toISOString();
      const record = { _id: userId, ...hashes, revision: 1, createdAt: at, changedAt: at };
      return (await insertOnce(passwords, record)) ? record : undefined;
    },

    /** Replaces hashes of what was read as `seen`; `undefined` when that is not the present password any more. */
    replace: (seen: PasswordRecord, hashes: Partial<PasswordHashes>): Promise<PasswordRecord | undefined> =>
      passwords.findOneAndUpdate(
        { _id: seen._id, revision: seen.revision },
        { $set: { ...hashes, changedAt: now().toISOString() }, $inc: { revision: 1 } },
      ),
  };
}
