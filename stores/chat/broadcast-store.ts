import type { Filter } from 'mongodb';
import type { Broadcast, BroadcastQuery } from '../../contracts/chat/broadcast';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import { operationTime } from '../../platform/operations/operation';
import type { Collection, Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

type BroadcastRecord = Stored & Omit<Broadcast, 'id'>;

/** Readers that one broadcast remembers. */
export const maxReaders = 1_000;

const present = ({ _id, ...record }: BroadcastRecord): Broadcast => ({ id: _id, ...record });

/** Messages to all agents, and who has read them (specification 1, Mount list). */
export async function createBroadcastStore(db: Database, now: () => Date = operationTime) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const broadcasts: Collection<BroadcastRecord> = await db.collection<BroadcastRecord>({
    name: 'broadcasts',
    indexes: [{ keys: newest }, { keys: { priority: 1, ...newest } }],
  });

  return {
    async add({ id, ...fields }: Omit<Broadcast, 'createdAt' | 'readBy'>): Promise<Broadcast> {
      const record: BroadcastRecord = { _id: id, ...fields, createdAt: now().toISOString(), readBy: [] };
      await broadcasts.insert(record);
      return present(record);
    },

    async get(id: string): Promise<Broadcast | undefined> {
      const record = await broadcasts.get(id);
      return record && present(record);
    },

    /** The newest first; with `unread`, those that `agent` has not read. */
    async list({ since, unread, agent, priority, ...part }: BroadcastQuery): Promise<Page<Broadcast>> {
      const filter = {
        createdAt: { $gt: since === undefined ? '' : new Date(since).toISOString() },
        ...compact({ priority }),
        ...(unread && { readBy: { $not: { $elemMatch: { agent } } } }),
      } as Filter<BroadcastRecord>;
      return (await findPage(broadcasts, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },

    /** Those after a time, the oldest first. */
    async since(time: string, part: PageRequest): Promise<Broadcast[]> {
      const filter: Filter<BroadcastRecord> = { createdAt: { $gt: new Date(time).toISOString() } };
      return (await findPage(broadcasts, { filter, order: { key: 'createdAt', direction: 1 } }, part)).items.map(
        present,
      );
    },

    /** Notes that an agent has read it, once. `full`: it remembers as many readers as it can, and not this one. */
    async markRead(id: string, agent: string): Promise<'noted' | 'missing' | 'full'> {
      const filter = {
        _id: id,
        readBy: { $not: { $elemMatch: { agent } } },
        [`readBy.${maxReaders - 1}`]: { $exists: false },
      } as Filter<BroadcastRecord>;
      const read = { agent, readAt: now().toISOString() };
      const record =
        (await broadcasts.findOneAndUpdate(filter, { $push: { readBy: read } })) ?? (await broadcasts.get(id));
      if (!record) {
        return 'missing';
      }
      return record.readBy.some((each) => each.agent === agent) ? 'noted' : 'full';
    },
  };
}
