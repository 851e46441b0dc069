import type { ToolCatalog } from '../../contracts/integrations/tool-catalog';
import type { WorkflowToolCatalog } from '../../contracts/integrations/workflow-tools';
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

/** Catalogs, each stored once under an id and never changed. */
async function openCatalogs<Catalog extends Pick<ToolCatalog, 'digest' | 'createdAt'>>(
  db: Database,
  name: string,
  idOf: (catalog: Catalog) => string,
) {
  const catalogs = await db.collection<Document>({
    name,
    expire: { field: 'createdAt', afterSeconds: lifetimeSeconds },
  });
  const present = ({ catalog }: Document): Catalog => JSON.parse(catalog) as Catalog;
  return {
    async get(id: string): Promise<Catalog | undefined> {
      const found = await catalogs.get(id);
      return found && present(found);
    },

    /** Stores the catalog of its holder, or returns the one that was stored first. */
    async open(catalog: Catalog): Promise<Catalog> {
      const { digest, createdAt } = catalog;
      return present(
        await insertOrGet(catalogs, { _id: idOf(catalog), digest, createdAt, catalog: JSON.stringify(catalog) }),
      );
    },
  };
}

/** The tool catalogs of attempts. */
export const createToolCatalogStore = (db: Database) =>
  openCatalogs<ToolCatalog>(db, 'tool-catalogs', ({ attemptId }) => attemptId);
export type ToolCatalogStore = Awaited<ReturnType<typeof createToolCatalogStore>>;

/** A catalog of a run of a workflow, and whose it is: what `workflow-tools/holder.ts` names. */
export type HeldToolCatalog = WorkflowToolCatalog & { holder: string };

/** The tool catalogs of runs of workflows. */
export const createWorkflowToolCatalogStore = (db: Database) =>
  openCatalogs<HeldToolCatalog>(db, 'workflow-tool-catalogs', ({ holder }) => holder);
export type WorkflowToolCatalogStore = Awaited<ReturnType<typeof createWorkflowToolCatalogStore>>;
