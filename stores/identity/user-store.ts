import type { UpdateFilter } from 'mongodb';
import { localUser, type User } from '../../contracts/identity/user';
import type { Page, PageRequest } from '../../platform/lists/page';
import { operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce, insertOrGet } from '../port/insert';

interface UserRecord extends Stored, Omit<User, 'id'> {
  /** Every workspace that the user was ever a member of; the workspaces themselves have the memberships. */
  workspaceIds: string[];
}

const present = ({ _id, workspaceIds: _ids, ...fields }: UserRecord): User => ({ id: _id, ...fields });

/** The people who may be members of workspaces. Opening makes the owner of the installation, once for all processes. */
export async function createUserStore(db: Database, now: () => Date = operationTime) {
  const users = await db.collection<UserRecord>({ name: 'users' });
  const fresh = (id: string, fields: Pick<User, 'displayName' | 'email'>, workspaceIds: string[] = []): UserRecord => {
    const at = now().toISOString();
    return { _id: id, ...fields, status: 'active', workspaceIds, createdAt: at, updatedAt: at };
  };
  if (!(await users.get(localUser))) {
    await insertOnce(users, fresh(localUser, { displayName: 'Local user' }, ['local']));
  }

  async function change(id: string, update: UpdateFilter<UserRecord>): Promise<User | undefined> {
    const changed = await users.findOneAndUpdate({ _id: id }, update);
    return changed && present(changed);
  }

  return {
    async get(id: string): Promise<User | undefined> {
      const record = await users.get(id);
      return record && present(record);
    },

    /** Those of these users that there are, by their ids. */
    async named(ids: readonly string[]): Promise<Map<string, User>> {
      const found = ids.length === 0 ? [] : await users.find({ _id: { $in: [...new Set(ids)] } });
      return new Map(found.map((record) => [record._id, present(record)]));
    },

    /** Makes a user, or returns the one that has the id already. */
    create: async (id: string, fields: Pick<User, 'displayName' | 'email'>): Promise<User> =>
      present(await insertOrGet(users, fresh(id, fields))),

    rename: (id: string, displayName: string) => change(id, { $set: { displayName, updatedAt: now().toISOString() } }),

    /** Sets the name and the address that another service has for the user; without an address it has none. */
    describe: (id: string, { displayName, email }: Pick<User, 'displayName' | 'email'>) =>
      change(id, {
        $set: { displayName, ...(email !== undefined && { email }), updatedAt: now().toISOString() },
        ...(email === undefined && { $unset: { email: '' } }),
      }),

    setStatus: (id: string, status: User['status']) => change(id, { $set: { status, updatedAt: now().toISOString() } }),

    /** Notes a workspace before the user becomes a member there. */
    noteWorkspace: (id: string, workspaceId: string) => change(id, { $addToSet: { workspaceIds: workspaceId } }),

    /** The workspaces in which the user may be a member. */
    workspacesOf: async (id: string): Promise<string[]> => (await users.get(id))?.workspaceIds ?? [],

    /** By id. */
    list: async (part: PageRequest): Promise<Page<User>> =>
      (await findPage(users, { filter: {}, order: { key: '_id', direction: 1 } }, part)).map(present),
  };
}
