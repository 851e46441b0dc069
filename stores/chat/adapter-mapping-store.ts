import { createHash } from 'node:crypto';
import type { AdapterMapping, MappingQuery } from '../../contracts/chat/adapter-delivery';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOrGet } from '../port/insert';

type MappingRecord = Stored & Omit<AdapterMapping, 'id'>;

/** The same for the same texts, however long they are; no two lists of texts have the same. */
export const externalKey = (...parts: string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);

const present = ({ _id, ...record }: MappingRecord): AdapterMapping => ({ id: _id, ...record });

/** What threads of team chats and communities belong to. The first mapping of a thread stands. */
export async function createAdapterMappingStore(db: Database, now: () => Date = () => new Date()) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const mappings = await db.collection<MappingRecord>({
    name: 'adapter-mappings',
    indexes: [{ keys: newest }, { keys: { adapterId: 1, ...newest } }],
  });

  return {
    async get(adapterId: string, externalThreadId: string): Promise<AdapterMapping | undefined> {
      const record = await mappings.get(`mapping_${externalKey(adapterId, externalThreadId)}`);
      return record && present(record);
    },

    /** Maps a thread, or returns the mapping that it has. */
    async map({ target, channelId, ...mapping }: Omit<AdapterMapping, 'id' | 'createdAt'>): Promise<AdapterMapping> {
      const record: MappingRecord = {
        _id: `mapping_${externalKey(mapping.adapterId, mapping.externalThreadId)}`,
        ...mapping,
        ...compact({ channelId }),
        target: compact(target),
        createdAt: now().toISOString(),
      };
      return present(await insertOrGet(mappings, record));
    },

    /** The newest first. */
    async list({ adapterId, ...part }: MappingQuery): Promise<Page<AdapterMapping>> {
      const filter = { ...compact({ adapterId }), createdAt: { $gt: '' } };
      return (await findPage(mappings, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },
  };
}
