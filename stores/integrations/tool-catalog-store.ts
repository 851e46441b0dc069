import type { ToolCatalog } from '../../contracts/integrations/tool-catalog';
import type { Database, Stored } from '../port/collection';
import { insertOrGet } from '../port/insert';

interface Document extends Stored {
  digest: string;
  createdAt: string;
  /** As JSON: schemas have names such as `$ref`, which are operators in a database. */
  catalog: string;
}

/** Catalogs disappear so many seconds after their launch: much longer than any run may take. */
const lifetimeSeconds = 180 * 86_400;

/** The tool catalogs of attempts, each stored once and never changed. */
export async function createToolCatalogStore(db: Database) {
  const catalogs = await db.collection<Document>({
    name: 'tool-catalogs',
    expire: { field: 'createdAt', afterSeconds: lifetimeSeconds },
  });
  const present = ({ catalog }: Document): ToolCatalog => JSON.parse(catalog) as ToolCatalog;
  return {
    async get(attemptId: string): Promise<ToolCatalog | undefined> {
      const found = await catalogs.get(attemptId);
      return found && present(found);
    },

    /** Stores the catalog of its attempt, or returns the one that was stored first. */
    async open(catalog: ToolCatalog): Promise<ToolCatalog> {
      const { attemptId, digest, createdAt } = catalog;
      return present(
        await insertOrGet(catalogs, { _id: attemptId, digest, createdAt, catalog: JSON.stringify(catalog) }),
      );
    },
  };
}

export type ToolCatalogStore = Awaited<ReturnType<typeof createToolCatalogStore>>;
