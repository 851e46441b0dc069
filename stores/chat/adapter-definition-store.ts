import type { DefinitionLink, StoredDefinition } from '../../contracts/chat/adapter-definition';
import { compact } from '../../platform/json/compact';
import type { Database, Stored } from '../port/collection';

interface DefinitionRecord extends Stored, StoredDefinition {
  adapterId: string;
  /** Which reading of the community found it. */
  readAt: string;
}

export type StoredLink = Omit<DefinitionLink, 'state'>;
interface LinkRecord extends Stored, StoredLink {
  adapterId: string;
}

/** Definitions that are stored of one community. */
export const maxDefinitions = 200;

/** Definitions of agents that communities publish, as they were read last, and the profiles that were imported from them. */
export async function createAdapterDefinitionStore(db: Database) {
  const definitions = await db.collection<DefinitionRecord>({
    name: 'adapter-definitions',
    indexes: [{ keys: { adapterId: 1, readAt: 1, _id: 1 } }, { keys: { adapterId: 1, _id: 1 } }],
  });
  const links = await db.collection<LinkRecord>({
    name: 'adapter-definition-links',
    indexes: [{ keys: { adapterId: 1, _id: 1 } }],
  });
  const keyOf = (adapterId: string, id: string): string => `${adapterId}/${id}`;
  const definitionOf = ({ _id, adapterId: _adapterId, readAt: _readAt, ...one }: DefinitionRecord): StoredDefinition =>
    one;
  const linkOf = ({ _id, adapterId: _adapterId, ...one }: LinkRecord): StoredLink => one;
  const ordered = { sort: { _id: 1 as const }, limit: maxDefinitions };

  return {
    /** Replaces what is stored of a community by what was read. */
    async replace(adapterId: string, found: readonly StoredDefinition[], readAt: string): Promise<void> {
      for (const one of found.slice(0, maxDefinitions)) {
        const set = { ...compact(one), adapterId, readAt };
        const unset = one.description === undefined ? { $unset: { description: '' as const } } : {};
        await definitions.findOneAndUpdate(
          { _id: keyOf(adapterId, one.id) },
          { $set: set, ...unset },
          { upsert: true },
        );
      }
      await definitions.deleteMany({ adapterId, readAt: { $lt: readAt } });
    },

    async get(adapterId: string, id: string): Promise<StoredDefinition | undefined> {
      const record = await definitions.get(keyOf(adapterId, id));
      return record && definitionOf(record);
    },

    async list(adapterId: string): Promise<StoredDefinition[]> {
      return (await definitions.find({ adapterId }, ordered)).map(definitionOf);
    },

    async link(adapterId: string, id: string): Promise<StoredLink | undefined> {
      const record = await links.get(keyOf(adapterId, id));
      return record && linkOf(record);
    },

    async links(adapterId: string): Promise<StoredLink[]> {
      return (await links.find({ adapterId }, ordered)).map(linkOf);
    },

    countLinks: (adapterId: string): Promise<number> => links.count({ adapterId }),

    /** Records what a profile was imported from; the last import counts. */
    async putLink(adapterId: string, link: StoredLink): Promise<void> {
      const _id = keyOf(adapterId, link.definitionId);
      await links.findOneAndUpdate({ _id }, { $set: { ...link, adapterId } }, { upsert: true });
    },
  };
}
