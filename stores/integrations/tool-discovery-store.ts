import type { ToolDiscovery } from '../../contracts/integrations/tool-server';
import type { Database, Stored } from '../port/collection';

type StoredDiscovery = Omit<ToolDiscovery, 'cached'>;

interface Document extends Stored {
  serverId: string;
  definitionDigest: string;
  hostId: string;
  discoveredAt: string;
  /** The discovery as JSON: schemas have names such as `$ref`, which are operators in a database. */
  discovery: string;
}

const idOf = (definitionDigest: string, hostId: string): string => `${definitionDigest}@${hostId}`;

/** The most hosts whose discoveries of one definition are read together. */
export const maxHosts = 50;

/** A discovery that is not repeated disappears after so many seconds, and is made again when it is needed. */
const lifetimeSeconds = 30 * 86_400;

/** What was discovered last of each definition on each host. */
export async function createToolDiscoveryStore(db: Database) {
  const discoveries = await db.collection<Document>({
    name: 'tool-discoveries',
    indexes: [{ keys: { serverId: 1 } }, { keys: { definitionDigest: 1 } }],
    expire: { field: 'discoveredAt', afterSeconds: lifetimeSeconds },
  });
  const present = ({ discovery }: Document): StoredDiscovery => JSON.parse(discovery) as StoredDiscovery;

  return {
    async find(definitionDigest: string, hostId: string): Promise<StoredDiscovery | undefined> {
      const found = await discoveries.get(idOf(definitionDigest, hostId));
      return found && present(found);
    },

    /** The discoveries of a definition, of up to `maxHosts` hosts. */
    async ofDefinition(definitionDigest: string): Promise<StoredDiscovery[]> {
      return (await discoveries.find({ definitionDigest }, { limit: maxHosts })).map(present);
    },

    /** Replaces the earlier discovery of the same definition on the same host . */
    async record(discovery: StoredDiscovery): Promise<void> {
      const { definitionDigest, hostId, serverId, discoveredAt } = discovery;
      const fields = { serverId, definitionDigest, hostId, discoveredAt, discovery: JSON.stringify(discovery) };
      const _id = idOf(definitionDigest, hostId);
      await discoveries.findOneAndUpdate({ _id }, { $set: fields }, { upsert: true });
    },

    /** Of a server whose definition is deleted. */
    async removeServer(serverId: string): Promise<void> {
      await discoveries.deleteMany({ serverId });
    },
  };
}

export type ToolDiscoveryStore = Awaited<ReturnType<typeof createToolDiscoveryStore>>;
