import type { CommunityChannel } from '../../contracts/chat/adapter-channel';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';
import { insertOnce } from '../port/insert';

type StoredChannel = Omit<CommunityChannel, 'polledUntil'>;

interface Position extends Stored {
  until: number;
}

/**
 * The mapped channels of each community adapter. Those of one adapter are one record, so that no two writers map two channels to
 * the squad chat at once.
 */
export async function createAdapterChannelStore(db: Database) {
  const records = await createConfiguredRecords<{ channels: StoredChannel[] }>(db, 'adapter-channels');
  const positions = await db.collection<Position>({ name: 'adapter-positions' });
  const positionId = (adapterId: string, channelId: string): string => `${adapterId}/${channelId}`;

  const present = async (adapterId: string, channel: StoredChannel): Promise<CommunityChannel> => ({
    ...channel,
    polledUntil: (await positions.get(positionId(adapterId, channel.channelId)))?.until ?? null,
  });

  return {
    async list(adapterId: string): Promise<CommunityChannel[]> {
      const channels = (await records.get(adapterId))?.channels ?? [];
      return Promise.all(channels.map((channel) => present(adapterId, channel)));
    },

    /** The enabled channel that is the squad chat. */
    async mapped(adapterId: string): Promise<CommunityChannel | undefined> {
      const channel = (await records.get(adapterId))?.channels.find(({ enabled }) => enabled);
      return channel && present(adapterId, channel);
    },

    /** @param change what becomes of the channels; may run more than once, throws to refuse */
    async change(adapterId: string, change: (channels: readonly StoredChannel[]) => StoredChannel[]): Promise<void> {
      await records.change(adapterId, (current) => ({ channels: change(current?.channels ?? []) }));
    },

    /** Records up to when a channel was read; it never goes back. */
    async advance(adapterId: string, channelId: string, until: number): Promise<void> {
      const _id = positionId(adapterId, channelId);
      if (!(await insertOnce(positions, { _id, until }))) {
        await positions.findOneAndUpdate({ _id, until: { $lt: until } }, { $set: { until } });
      }
    },
  };
}
