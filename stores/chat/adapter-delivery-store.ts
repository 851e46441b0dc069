import type { UpdateFilter } from 'mongodb';
import type { AdapterDelivery, DeliveryQuery } from '../../contracts/chat/adapter-delivery';
import { compact } from '../../platform/json/compact';
import { Page } from '../../platform/lists/page';
import { setAndUnset } from '../integrations/set-and-unset';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOrGet } from '../port/insert';

/** Deliveries are retained for a month. */
const retainedSeconds = 30 * 86_400;

interface DeliveryRecord extends Stored, Omit<AdapterDelivery, 'id'> {
  /** Whether a workflow delivers it: what was recorded without one is started later. */
  started: boolean;
}

/** The outcome of an attempt that was not acknowledged. */
export type DeliveryProblem = Required<Pick<AdapterDelivery, 'reasonCode' | 'error'>> &
  Pick<AdapterDelivery, 'httpStatus' | 'retryAt'>;

const present = ({ _id, started: _started, ...record }: DeliveryRecord): AdapterDelivery => ({ id: _id, ...record });

/** Messages to team chats and communities: each is acknowledged once or never. */
export async function createAdapterDeliveryStore(db: Database, now: () => Date = () => new Date()) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const deliveries = await db.collection<DeliveryRecord>({
    name: 'adapter-deliveries',
    indexes: [
      { keys: newest },
      { keys: { adapterId: 1, ...newest } },
      { keys: { state: 1, ...newest } },
      { keys: { adapterId: 1, state: 1, ...newest } },
      { keys: { adapterId: 1, state: 1, updatedAt: -1 } },
      { keys: { started: 1, createdAt: 1, _id: 1 } },
    ],
    expire: { field: 'createdAt', afterSeconds: retainedSeconds },
  });
  /** Changes a delivery unless it is over. */
  const changePending = async (
    id: string,
    update: UpdateFilter<DeliveryRecord>,
  ): Promise<AdapterDelivery | undefined> => {
    const record = await deliveries.findOneAndUpdate({ _id: id, state: 'pending' }, update);
    return record && present(record);
  };

  return {
    /** Records a delivery before anything is sent; a repetition finds the recorded one. */
    async request({ id, ...delivery }: AdapterDelivery): Promise<AdapterDelivery> {
      return present(await insertOrGet<DeliveryRecord>(deliveries, { _id: id, ...delivery, started: false }));
    },

    async get(id: string): Promise<AdapterDelivery | undefined> {
      const record = await deliveries.get(id);
      return record && present(record);
    },

    /** A workflow delivers it. */
    async markStarted(id: string): Promise<void> {
      await deliveries.findOneAndUpdate({ _id: id }, { $set: { started: true } });
    },

    /** Those that no workflow delivers, recorded before a time, the oldest first. */
    async listUnstarted(before: string, limit: number): Promise<AdapterDelivery[]> {
      const filter = { started: false, createdAt: { $lt: before } };
      return (await deliveries.find(filter, { sort: { createdAt: 1, _id: 1 }, limit })).map(present);
    },

    countPending: (adapterId: string): Promise<number> => deliveries.count({ adapterId, state: 'pending' }),

    /** The one that ended last in a state. */
    async lastOf(adapterId: string, state: AdapterDelivery['state']): Promise<AdapterDelivery | undefined> {
      const [last] = await deliveries.find({ adapterId, state }, { sort: { updatedAt: -1 }, limit: 1 });
      return last && present(last);
    },

    /**
     * Counts an attempt that is about to be made, under the name that the other side will know the message by.
     *
     * @returns `undefined` when the delivery is over
     */
    beginAttempt: (id: string, externalMessageId?: string) =>
      changePending(id, {
        $set: compact({ externalMessageId, updatedAt: now().toISOString() }),
        $inc: { attempts: 1 },
      }),

    /** Records that the other side has it: once, by the attempt that notices first. `undefined` when it was over before. */
    async acknowledge(
      id: string,
      outcome: Pick<AdapterDelivery, 'httpStatus' | 'externalMessageId'>,
    ): Promise<AdapterDelivery | undefined> {
      const at = now().toISOString();
      return changePending(id, {
        $set: { ...compact(outcome), state: 'delivered', deliveredAt: at, updatedAt: at },
        $unset: { reasonCode: '', error: '', retryAt: '' },
      });
    },

    /** Notes why the last attempt was not acknowledged, in place of what was noted of an earlier one; it is tried again. */
    async noteProblem(
      id: string,
      { reasonCode, error, httpStatus, retryAt }: DeliveryProblem,
    ): Promise<AdapterDelivery | undefined> {
      const noted = compact({ reasonCode, error, httpStatus, retryAt, updatedAt: now().toISOString() });
      const absent = ['httpStatus', 'retryAt'].filter((name) => !(name in noted));
      return changePending(id, setAndUnset(noted, absent) as UpdateFilter<DeliveryRecord>);
    },

    /** Ends a delivery that is not tried any more, for the reason that was noted last. */
    fail: (id: string) => changePending(id, { $set: { state: 'failed', updatedAt: now().toISOString() } }),

    /** The newest first. */
    async list({ adapterId, state, deliveryId, ...part }: DeliveryQuery): Promise<Page<AdapterDelivery>> {
      if (deliveryId !== undefined) {
        const one = await deliveries.get(deliveryId);
        const fits = one && (adapterId ?? one.adapterId) === one.adapterId && (state ?? one.state) === one.state;
        return new Page(fits ? [present(one)] : [], undefined);
      }
      const filter = { ...compact({ adapterId, state }), createdAt: { $gt: '' } };
      return (await findPage(deliveries, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },
  };
}
