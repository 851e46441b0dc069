import type { TrackerProfileFields } from '../../../contracts/integrations/trackers/profile';
import type {
  TrackerConnectionFields,
  TrackerProvider,
  TrackerSchema,
} from '../../../contracts/integrations/trackers/tracker';
import type { Database, Stored } from '../../port/collection';
import { createConfiguredRecords, type Recorded } from '../../port/configured-records';

export type TrackerConnectionRecord = TrackerConnectionFields & Recorded;
export type TrackerProfileRecord = TrackerProfileFields & Recorded;

interface SchemaDocument extends Stored {
  provider: TrackerProvider;
  project: string;
  introspectedAt: string;
  /** The schema as JSON: names of a tracker may be operators in a database. */
  schema: string;
}

const idOf = (provider: TrackerProvider, project: string): string => `${provider}:${project}`;
const newest = { introspectedAt: -1 } as const;

/** A schema that is not read again disappears after so many seconds: what it has may be long gone. */
const lifetimeSeconds = 90 * 86_400;

/** How trackers are reached, what was read of their projects last, and how tasks become their work items. */
export async function createTrackerStore(db: Database) {
  const connections = await createConfiguredRecords<TrackerConnectionFields>(db, 'tracker-connections');
  const profiles = await createConfiguredRecords<TrackerProfileFields>(db, 'tracker-profiles');
  const schemas = await db.collection<SchemaDocument>({
    name: 'tracker-schemas',
    indexes: [{ keys: { introspectedAt: -1 } }, { keys: { provider: 1, introspectedAt: -1 } }],
    expire: { field: 'introspectedAt', afterSeconds: lifetimeSeconds },
  });
  const parse = (document: SchemaDocument | undefined): TrackerSchema | undefined =>
    document && (JSON.parse(document.schema) as TrackerSchema);

  return {
    connections,
    profiles,

    /** The schema of a project as it was read last. */
    schemaOf: async (provider: TrackerProvider, project: string): Promise<TrackerSchema | undefined> =>
      parse(await schemas.get(idOf(provider, project))),

    /** The schema that was read last of all, or of all of a provider. */
    async latestSchema(provider: TrackerProvider | undefined): Promise<TrackerSchema | undefined> {
      const filter = provider === undefined ? {} : { provider };
      const [latest] = await schemas.find(filter, { sort: newest, limit: 1 });
      return parse(latest);
    },

    /** Replaces the earlier schema of the project. */
    async recordSchema(schema: TrackerSchema): Promise<void> {
      const { provider, project, introspectedAt } = schema;
      const fields = { provider, project, introspectedAt, schema: JSON.stringify(schema) };
      await schemas.findOneAndUpdate({ _id: idOf(provider, project) }, { $set: fields }, { upsert: true });
    },

    /** Removes what was read through a connection that is another by now. */
    async removeSchemas(provider: TrackerProvider): Promise<void> {
      await schemas.deleteMany({ provider });
    },
  };
}

export type TrackerStore = Awaited<ReturnType<typeof createTrackerStore>>;
