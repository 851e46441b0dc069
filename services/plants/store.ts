import { startProofMs } from '../../platform/crypto/message-proof';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Database } from '../../stores/port/collection';
import { findPage } from '../../stores/port/find-page';
import { insertOnce, insertOrGet } from '../../stores/port/insert';
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

/** A creation whose plant was deleted. */
interface RemovedCreation {
  _id: string;
  removedAt: string;
}

/** A creation that is sent again counts for as long. */
const removalSeconds = startProofMs / 1_000;

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

/** The most plants of one page, and of one read of the store. */
export const maxListed = 10_000;
const maxRead = 100;

export interface ListOptions {
  limit?: number | undefined;
  after?: bigint | undefined;
}

/** One page of plants, by number. */
export interface PlantPage {
  /** Read while they are consumed: never all of them at once. What is created meanwhile may be missing. */
  batches: AsyncGenerator<NewPlant[]>;
  /** The next page has the plants of a greater number; absent at the end. */
  next?: bigint;
}

/** Deliveries of one page: the default, and the maximum. */
export const usualDeliveries = 100;
export const maxDeliveries = 1_000;
const keptAttempts = 20;

const offset = 2n ** 63n;
const orderOf = (id: bigint): string => (id + offset).toString().padStart(20, '0');
const idOf = (order: string): bigint => BigInt(order) - offset;
/** The filter of a user's plants between two numbers, both exclusive. */
function ofUser(user: string, { after, before }: { after?: bigint | undefined; before?: bigint | undefined }) {
  const order = compact({
    $gt: after === undefined ? undefined : orderOf(after),
    $lt: before === undefined ? undefined : orderOf(before),
  });
  return Object.keys(order).length > 0 ? { user, order } : { user };
}
const keyOf = (user: string, id: bigint): string => `${user}:${id}`;

/** Plants and the log of their announcements. */
export async function createPlantStore(db: Database) {
  const plants = await db.collection<PlantRecord>({ name: 'plants', indexes: [{ keys: { user: 1, order: 1 } }] });
  const removals = await db.collection<RemovedCreation>({
    name: 'plant-removals',
    expire: { field: 'removedAt', afterSeconds: removalSeconds },
  });
  const deliveries = await db.collection<Delivery>({
    name: 'plant-deliveries',
    indexes: [{ keys: { user: 1, createdAt: -1, _id: -1 } }],
  });

  /** The plants of a user from `after` to `before`, both exclusive. */
  async function* read(
    user: string,
    { after, before, most }: { after?: bigint | undefined; before?: bigint | undefined; most: number },
  ): AsyncGenerator<NewPlant[]> {
    let from = after;
    for (let left = most; left > 0; left -= maxRead) {
      const limit = Math.min(left, maxRead);
      const found = await plants.find(ofUser(user, { after: from, before }), { sort: { order: 1 }, limit });
      const items = found.map(({ order, name, tag }): NewPlant => ({ id: idOf(order), name, ...compact({ tag }) }));
      yield items;
      if (items.length < limit) {
        return;
      }
      from = items.at(-1)?.id;
    }
  }

  return {
    /** The plants of a user, by number; with `after`, those of a greater number. */
    async list(user: string, { limit = maxListed, after }: ListOptions = {}): Promise<PlantPage> {
      const most = Math.min(limit, maxListed);
      const [beyond] = await plants.find(ofUser(user, { after }), { sort: { order: 1 }, skip: most, limit: 1 });
      const end = beyond && idOf(beyond.order);
      return {
        batches: read(user, { after, before: end, most }),
        ...compact({ next: end === undefined ? undefined : end - 1n }),
      };
    },

    /**
     * Whether the plant was stored by this creation: `false` when the number was taken before. A creation that is tried again, since the
     * response of its first attempt was lost, makes no plant again that was removed meanwhile.
     */
    async add(
      user: string,
      { id, plant, creation }: { id: bigint; plant: Plant; creation: { by: string; at: string } },
    ): Promise<boolean> {
      if (await removals.get(creation.by)) {
        return true;
      }
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
    async remove(user: string, id: bigint, at: Date): Promise<boolean> {
      const _id = keyOf(user, id);
      const stored = await plants.get(_id);
      if (!stored) {
        return false;
      }
      const { creation } = stored;
      await insertOnce(removals, { _id: creation, removedAt: at.toISOString() });
      return (await plants.deleteMany({ _id, creation })) > 0;
    },

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
