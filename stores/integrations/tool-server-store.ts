import type { ToolServerDefinition, ToolServerWrite } from '../../contracts/integrations/tool-server';
import { digestOf } from '../../platform/json/digest';
import type { Database } from '../port/collection';
import { createConfiguredRecords, type Recorded } from '../port/configured-records';

export type ToolServerRecord = ToolServerWrite & Recorded;

const schemaVersion = 'tool-server-definition/v1';

/** The definition of a record. Its digest is of everything but the revision and the times. */
export function toDefinition({ revision, createdAt, updatedAt, ...own }: ToolServerRecord): ToolServerDefinition {
  const canonical = { schemaVersion, ...own } as const;
  return { ...canonical, revision, digest: digestOf(canonical), createdAt, updatedAt };
}

/** Definitions of tool servers by id. */
export async function createToolServerStore(db: Database) {
  const records = await createConfiguredRecords<ToolServerWrite>(db, 'tool-servers');
  return {
    ...records,

    /** The definition with its digest. */
    async definition(id: string): Promise<ToolServerDefinition | undefined> {
      const record = await records.get(id);
      return record && toDefinition(record);
    },

    /** All definitions, by id. */
    async definitions(): Promise<ToolServerDefinition[]> {
      return (await records.list()).map(toDefinition);
    },
  };
}

export type ToolServerStore = Awaited<ReturnType<typeof createToolServerStore>>;
