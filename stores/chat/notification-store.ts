import type { Filter } from 'mongodb';
import type { Notification, NotificationQuery } from '../../contracts/chat/notification';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import { newRecordId, operationTime } from '../../platform/operations/operation';
import type { Collection, Database, Stored } from '../port/collection';
import { DuplicateKeyError } from '../port/errors';
import { findPage } from '../port/find-page';

type NotificationRecord = Stored & Omit<Notification, 'id' | 'targetAgent'> & { targetAgent: string };

export type NewNotification = Omit<Notification, 'id' | 'delivered' | 'deliveredAt' | 'createdAt'>;

/** How long a notification is retained, in days. */
export const notificationRetentionDays = 90;

/** The target of notifications for the board's operator: no name that an agent can have. */
const operator = '';

function present({ _id, targetAgent, ...record }: NotificationRecord): Notification {
  return { id: _id, ...record, ...(targetAgent === operator ? {} : { targetAgent }) };
}

/** Notifications and whether they were delivered (specification 1, Mount list). */
export async function createNotificationStore(db: Database, now: () => Date = operationTime) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const notifications: Collection<NotificationRecord> = await db.collection<NotificationRecord>({
    name: 'notifications',
    indexes: [
      { keys: { dedupeKey: 1 }, unique: true },
      { keys: { targetAgent: 1, delivered: 1, ...newest } },
      { keys: { targetAgent: 1, ...newest } },
      { keys: { taskId: 1, ...newest } },
      { keys: { delivered: 1, ...newest } },
      { keys: newest },
    ],
    expire: { field: 'createdAt', afterSeconds: notificationRetentionDays * 86_400 },
  });
  const everything = { createdAt: { $gt: '' } };
  const deliver = () => ({ $set: { delivered: true, deliveredAt: now().toISOString() } });

  return {
    /** Adds a notification, or returns the one that has its `dedupeKey` already. */
    async add({ targetAgent = operator, ...fields }: NewNotification): Promise<Notification> {
      const record: NotificationRecord = {
        ...fields,
        targetAgent,
        _id: newRecordId('notification'),
        delivered: false,
        createdAt: now().toISOString(),
      };
      try {
        await notifications.insert(record);
        return present(record);
      } catch (error) {
        if (!(error instanceof DuplicateKeyError) || fields.dedupeKey === undefined) {
          throw error;
        }
        const [existing] = await notifications.find({ dedupeKey: fields.dedupeKey }, { limit: 1 });
        return present(existing ?? record);
      }
    },

    /** The newest first. */
    async list({ agent, undelivered, taskId, ...part }: NotificationQuery): Promise<Page<Notification>> {
      const filter: Filter<NotificationRecord> = {
        ...everything,
        ...(agent === undefined ? {} : { targetAgent: agent }),
        ...(undelivered && { delivered: false }),
        ...compact({ taskId }),
      };
      return (await findPage(notifications, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },

    /** Unsent notifications for the operator, the oldest first. */
    async pending(part: PageRequest): Promise<Page<Notification>> {
      const filter = { targetAgent: operator, delivered: false };
      return (await findPage(notifications, { filter, order: { key: 'createdAt', direction: 1 } }, part)).map(present);
    },

    /** How many of them were not delivered before. */
    markDelivered: (ids: readonly string[]): Promise<number> =>
      notifications.updateMany({ _id: { $in: [...ids] }, delivered: false }, deliver()),

    markAllDelivered: (agent: string): Promise<number> =>
      notifications.updateMany({ targetAgent: agent, delivered: false }, deliver()),

    async get(id: string): Promise<Notification | undefined> {
      const record = await notifications.get(id);
      return record && present(record);
    },

    async stats() {
      const [total, undelivered, groups] = await Promise.all([
        notifications.count(everything),
        notifications.count({ delivered: false }),
        notifications.aggregate([{ $match: everything }, { $group: { _id: '$type', count: { $sum: 1 } } }]),
      ]);
      const byType = Object.fromEntries(groups.map(({ _id, count }) => [String(_id), Number(count)]));
      return { total, undelivered, delivered: total - undelivered, byType };
    },

    clear: (): Promise<number> => notifications.deleteMany(everything),
  };
}

export type NotificationStore = Awaited<ReturnType<typeof createNotificationStore>>;
