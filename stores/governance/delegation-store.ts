import type { Filter } from 'mongodb';
import type { DelegatedApproval, Delegation, DelegationLogQuery } from '../../contracts/governance/delegation';
import { isActive } from '../../domain/delegation/scope';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';
import { openSettingsDocument } from '../port/settings-document';

/** `confirmed`: whether it is known to have been done; it is noted before, so that no decision is without its entry. */
type Entry = Stored & Omit<DelegatedApproval, 'id'> & { confirmed: boolean };

/** How long an entry of the log is retained, in days. */
export const delegationLogRetentionDays = 365;

/** How many entries of decisions that were interrupted are settled at once. */
const settledAtOnce = 100;

const present = ({ _id, confirmed: _confirmed, ...entry }: Entry): DelegatedApproval => ({ id: _id, ...entry });

/** The delegation of approvals, and what was done under one (specification 1, Mount list). */
export async function createDelegationStore(db: Database, now: () => Date = () => new Date()) {
  const newest = { timestamp: -1, _id: -1 } as const;
  const current = await openSettingsDocument<{ delegation: Delegation | null }>(db, 'delegation');
  const entries = await db.collection<Entry>({
    name: 'delegation-log',
    indexes: [
      { keys: { confirmed: 1, ...newest } },
      { keys: { confirmed: 1, taskId: 1, ...newest } },
      { keys: { confirmed: 1, agent: 1, ...newest } },
    ],
    expire: { field: 'timestamp', afterSeconds: delegationLogRetentionDays * 86_400 },
  });

  /** The delegation that counts now. */
  async function active(): Promise<Delegation | null> {
    const { value } = await current.read();
    const delegation = value?.delegation ?? null;
    return isActive(delegation, now()) ? delegation : null;
  }

  return {
    active,

    async set(delegation: Delegation): Promise<void> {
      await current.replace({ delegation });
    },

    /** Revokes the delegation, also one that has expired; whether one was active. */
    async revoke(): Promise<Delegation | null> {
      const revoked = await active();
      await current.replace({ delegation: null });
      return revoked;
    },

    /** Notes what is about to be decided, or was done; the same id is one entry. */
    note: ({ id, ...entry }: DelegatedApproval, { confirmed }: { confirmed: boolean }): Promise<boolean> =>
      insertOnce(entries, { ...entry, _id: id, confirmed }),

    async confirm(id: string): Promise<void> {
      await entries.findOneAndUpdate({ _id: id }, { $set: { confirmed: true } });
    },

    async discard(id: string): Promise<void> {
      await entries.deleteMany({ _id: id, confirmed: false });
    },

    /** What was noted and neither confirmed nor discarded: its process has died, or decides right now. */
    unconfirmed: async (): Promise<DelegatedApproval[]> =>
      (await entries.find({ confirmed: false }, { sort: newest, limit: settledAtOnce })).map(present),

    /** The newest first. */
    async log({ taskId, agent, ...part }: DelegationLogQuery): Promise<Page<DelegatedApproval>> {
      const filter: Filter<Entry> = { confirmed: true, ...compact({ taskId, agent }), timestamp: { $gt: '' } };
      return (await findPage(entries, { filter, order: { key: 'timestamp', direction: -1 } }, part)).map(present);
    },
  };
}

export type DelegationStore = Awaited<ReturnType<typeof createDelegationStore>>;
