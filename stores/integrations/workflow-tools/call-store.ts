import type { Database } from '../../port/collection';
import { openCalls, type StoredCall } from '../tool-call-store';

/** Whose a call is: a stage of a run of a workflow, by what `holder.ts` names. */
export interface StageOfRun {
  holder: string;
  runId: string;
  stageId: string;
}

/** A call of a stage, as it is stored. */
export type WorkflowToolCallRecord = StoredCall<StageOfRun>;

/** Calls of the runs of workflows. */
export const createWorkflowToolCallStore = (db: Database) =>
  openCalls<StageOfRun>(db, { name: 'workflow-tool-calls', indexes: [{ keys: { holder: 1, createdAt: 1 } }] });
export type WorkflowToolCallStore = Awaited<ReturnType<typeof createWorkflowToolCallStore>>;
