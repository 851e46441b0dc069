import type { SessionMethod } from '../../../contracts/identity/session';
import type { Role } from '../../../contracts/permissions';
import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Collection, Database, Stored } from '../../port/collection';
import { findPage } from '../../port/find-page';

/** One sign-in of a user, until it expires or is ended. */
export interface SessionRecord extends Stored {
  userId: string;
  /** The workspace that the session works in. */
  workspaceId: string;
  role: Role;
  method: SessionMethod;
  /** Of the password that was entered; absent for other methods. */
  passwordRevision?: number;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
  remembered: boolean;
  address?: string;
  userAgent?: string;
}

/** Sessions of one user; beyond them the oldest one is ended. */
export const maxSessions = 100;

/** How exactly it is known when a session was used last, in milliseconds. */
const usedEveryMs = 60_000;

/** Sessions by user. One that is ended is removed; the audit log has what became of it. */
export async function createSessionStore(db: Database, now: () => Date = () => new Date()) {
  const sessions: Collection<SessionRecord> = await db.collection<SessionRecord>({
    name: 'sessions',
    indexes: [{ keys: { userId: 1, createdAt: -1, _id: -1 } }],
    expire: { field: 'expiresAt', afterSeconds: 60 },
  });
  const isOpen = ({ expiresAt }: SessionRecord): boolean => expiresAt > now().toISOString();

  /** Ends sessions of a user but for one; how many. */
  const endOthers = (userId: string, kept?: string): Promise<number> =>
    sessions.deleteMany({ userId, ...(kept === undefined ? {} : { _id: { $ne: kept } }) });

  return {
    async add(record: SessionRecord): Promise<void> {
      await sessions.insert(record);
      const { userId } = record;
      const beyond = await sessions.find(
        { userId },
        { sort: { createdAt: -1, _id: -1 }, skip: maxSessions, limit: 20 },
      );
      for (const { _id } of beyond) {
        await sessions.deleteMany({ _id });
      }
    },

    /** `undefined` when it has expired or was ended. */
    async get(id: string): Promise<SessionRecord | undefined> {
      const found = await sessions.get(id);
      return found && isOpen(found) ? found : undefined;
    },

    /** The newest first. */
    async list(userId: string, part: PageRequest): Promise<Page<SessionRecord>> {
      const page = await findPage(sessions, { filter: { userId }, order: { key: 'createdAt', direction: -1 } }, part);
      return page;
    },

    /** Notes that a session is used, at most once a minute. */
    async use({ _id, lastUsedAt }: SessionRecord): Promise<void> {
      const at = now();
      if (at.getTime() - Date.parse(lastUsedAt) >= usedEveryMs) {
        await sessions.findOneAndUpdate({ _id, lastUsedAt }, { $set: { lastUsedAt: at.toISOString() } });
      }
    },

    /** Makes a session work in another workspace; `undefined` when it has ended. */
    selectWorkspace: (id: string, workspaceId: string): Promise<SessionRecord | undefined> =>
      sessions.findOneAndUpdate({ _id: id }, { $set: { workspaceId } }),

    /** Whether there was such a session of the user. */
    end: async (userId: string, id: string): Promise<boolean> => (await sessions.deleteMany({ _id: id, userId })) > 0,

    endOthers,
  };
}

export type SessionStore = Awaited<ReturnType<typeof createSessionStore>>;
