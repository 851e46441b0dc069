import {
  definitionLimits,
  type WorkflowAccess,
  type WorkflowDefinition,
  type WorkflowVersion,
} from '../../../contracts/runs/workflows/definition';
import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Database, Stored } from '../../port/collection';
import { createConfiguredRecords, type Recorded } from '../../port/configured-records';
import { findPage } from '../../port/find-page';
import { insertOnce } from '../../port/insert';

/** The newest version of a workflow. */
export interface WorkflowFields {
  definition: WorkflowDefinition;
  version: number;
  access: WorkflowAccess;
  /** Who wrote this version, and when. */
  updatedBy: string;
  versionAt: string;
}
export type WorkflowRecord = WorkflowFields & Recorded;

interface VersionRecord extends Stored, WorkflowVersion {
  workflowId: string;
}

/** Definitions of workflows, with their earlier versions. */
export async function createWorkflowStore(db: Database) {
  const records = await createConfiguredRecords<WorkflowFields>(db, 'workflow-definitions');
  const versions = await db.collection<VersionRecord>({
    name: 'workflow-definition-versions',
    indexes: [{ keys: { workflowId: 1, version: -1 } }],
  });

  return {
    ...records,

    /** Stores a version beside the workflow before another one replaces it. Repeatable: a version never changes. */
    async archive({
      id: workflowId,
      version,
      definition,
      updatedBy: by,
      versionAt: at,
    }: WorkflowRecord): Promise<void> {
      await insertOnce(versions, { _id: `${workflowId}@${version}`, workflowId, version, at, by, definition });
      const [oldest] = await versions.find(
        { workflowId },
        { sort: { version: -1 }, skip: definitionLimits.versions, limit: 1 },
      );
      if (oldest) {
        await versions.deleteMany({ workflowId, version: { $lte: oldest.version } });
      }
    },

    /** Those before the newest, the latest first. */
    earlier: (workflowId: string, part: PageRequest): Promise<Page<WorkflowVersion>> =>
      findPage(versions, { filter: { workflowId }, order: { key: 'version', direction: -1, unique: true } }, part),

    version: (workflowId: string, version: number): Promise<WorkflowVersion | undefined> =>
      versions.get(`${workflowId}@${version}`),

    /** Removes the earlier versions of a workflow that is gone. */
    async forget(workflowId: string): Promise<void> {
      await versions.deleteMany({ workflowId });
    },
  };
}
export type WorkflowStore = Awaited<ReturnType<typeof createWorkflowStore>>;
