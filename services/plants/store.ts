import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Database } from '../../stores/port/collection';
import { findPage } from '../../stores/port/find-page';
import { insertOrGet } from '../../stores/port/insert';
import type { NewPlant, Plant } from './plant';

interface PlantRecord {
  /** Owner and number: numbers are each owner's own. */
  _id: string;
  user: string;
  /** The number as a text of constant length that sorts like it. */
  order: string;
  name: string;
  tag?: string;
  createdAt: string;
  /** The workflow that made it, which may try to more than once. */
  creation: string;
}

/** One attempt to notify a receiver. */
export interface DeliveryAttempt {
  at: string;
  durationMs: number;
  /** The receiver's response; absent when there was none. */
  status?: number;
  error?: string;
}

export interface Delivery {
  _id: string;
  user: string;
  receiver: string;
  state: 'pending' | 'delivered' | 'failed';
  /** The latest ones, the newest last. */
  attempts: DeliveryAttempt[];
  attemptCount: number;
  createdAt: string;
}

/** The most plants of one page. */
export const maxListed = 10_000;
export interface ListOptions {
  limit?: number | undefined;
  after?: bigint | undefined;
}
/** Deliveries of one page: the default, and the maximum. */
export const usualDeliveries = 100;
export const maxDeliveries = 1_000;
const keptAttempts = 20;

const offset = 2n ** 63n;
const orderOf = (id: bigint): string => (id + offset).toString().padStart(20, '0');
const idOf = (order: string): bigint => BigInt(order) - offset;
const keyOf = (user: string, id: bigint): string => `${user}:${id}`;

/** Plants and the log of their announcements. */
export async function createPlantStore(db: Database) {
  const plants = await db.collection<PlantRecord>({ name: 'plants', indexes: [{ keys: { user: 1, order: 1 } }] });
  const deliveries = await db.collection<Delivery>({
    name: 'plant-deliveries',
    indexes: [{ keys: { user: 1, createdAt: -1, _id: -1 } }],
  });
  return {
    /** The plants of a user, by number; with `after`, those of a greater number. */
    async list(user: string, { limit = maxListed, after }: ListOptions = {}): Promise<Page<NewPlant>> {
      const filter = { user, ...(after === undefined ? {} : { order: { $gt: orderOf(after) } }) };
      const order = { key: 'order', direction: 1, unique: true } as const;
      const page = await findPage(plants, { filter, order }, { limit: Math.min(limit, maxListed) });
      return page.map(({ order: at, name, tag }) => ({ id: idOf(at), name, ...compact({ tag }) }));
    },

    /** Whether the plant is there now and of this creation: `false` when the number was taken before. */
    async add(
      user: string,
      { id, plant, creation }: { id: bigint; plant: Plant; creation: { by: string; at: string } },
    ): Promise<boolean> {
      const _id = keyOf(user, id);
      const record = { _id, user, order: orderOf(id), ...plant, createdAt: creation.at, creation: creation.by };
      return (await insertOrGet(plants, record)).creation === creation.by;
    },

    /** Whether exactly this plant is there, and of this creation. */
    async isOf(user: string, { id, name, tag }: NewPlant, by: string): Promise<boolean> {
      const stored = await plants.get(keyOf(user, id));
      return stored?.creation === by && stored.name === name && stored.tag === tag;
    },

    /** Whether there was one. */
    remove: async (user: string, id: bigint): Promise<boolean> =>
      (await plants.deleteMany({ _id: keyOf(user, id) })) > 0,

    /** Notes an attempt; the first one begins the delivery's entry. */
    async logAttempt(
      { _id, user, receiver }: Pick<Delivery, '_id' | 'user' | 'receiver'>,
      state: Delivery['state'],
      attempt: DeliveryAttempt,
    ): Promise<void> {
      await deliveries.findOneAndUpdate(
        { _id },
        {
          $set: { state },
          $inc: { attemptCount: 1 },
          $push: { attempts: { $each: [attempt], $slice: -keptAttempts } },
          $setOnInsert: { user, receiver, createdAt: attempt.at },
        },
        { upsert: true },
      );
    },

    isDelivered: async (_id: string): Promise<boolean> => (await deliveries.get(_id))?.state === 'delivered',

    /** The delivery is given up. */
    async giveUp(_id: string): Promise<void> {
      await deliveries.findOneAndUpdate({ _id, state: 'pending' }, { $set: { state: 'failed' } });
    },

    /** The deliveries of a user's plants, the newest first. */
    deliveries: (user: string, { limit, cursor }: PageRequest): Promise<Page<Delivery>> =>
      findPage(
        deliveries,
        { filter: { user }, order: { key: 'createdAt', direction: -1 } },
        { limit: Math.min(limit, maxDeliveries), cursor },
      ),
  };
}

export type PlantStore = Awaited<ReturnType<typeof createPlantStore>>;
