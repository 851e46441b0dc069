import { compact } from '../../../platform/json/compact';
import type { Page, PageRequest } from '../../../platform/lists/page';
import { createContinuationStore } from '../../../services/workflow-runs/runs/execution/continuations';
import { endedStatuses, type RunRecord, type RunStatus } from '../../../services/workflow-runs/runs/run';
import { createRunStore } from '../../../services/workflow-runs/runs/store';
import type { Database } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { inPages } from '../../port/in-pages';
import { insertOrGet } from '../../port/insert';
import { prefixedDatabase } from '../../port/workspace-database';

/** A step of the definition that a run was started with, and the nodes of its graph. */
export interface StepOfRun {
  stepId: string;
  name?: string;
  type: string;
  agent?: string;
  nodes: string[];
}

/** A run of the engine, of a workflow of the board. Its `dot_source` is its compiled graph, as JSON. */
export interface WorkflowRunRecord extends RunRecord {
  board: {
    workflowId: string;
    version: number;
    taskId: string | null;
    /** The type of that task when the run was started; absent in runs without one, and of earlier versions. */
    taskType?: string;
    /** The failed run that this one continues. */
    resumedFrom: string | null;
    steps: StepOfRun[];
  };
}

/** Of runs that have not ended. */
export const openRunStatuses: readonly RunStatus[] = ['queued', 'starting', 'running', 'paused'];

/** How a run has ended. */
export interface RunOutcome {
  succeeded: boolean;
  startedAt?: string;
  endedAt: string;
  /** Of the task that it was for. */
  taskType?: string;
}

/** Which runs are listed. */
export interface WorkflowRunFilter {
  /** Of these workflows; of any when absent. */
  workflowIds?: readonly string[] | undefined;
  statuses?: readonly RunStatus[] | undefined;
}

const filterOf = ({ workflowIds, statuses }: WorkflowRunFilter) => ({
  ...(workflowIds ? { 'workflow.slug': { $in: [...workflowIds] } } : { _id: { $gt: '' } }),
  ...(statuses && { status: { $in: [...statuses] } }),
});

/**
 * Runs of the board's workflows, with what the engine stores of them: the same records, apart from those of the service.
 *
 * @param announce called after a run was begun or changed, again when that is repeated
 */
export async function createWorkflowRunStore(
  database: Database,
  announce: (runId: string, revision: number) => Promise<void> = () => Promise.resolve(),
) {
  const own = prefixedDatabase(database, 'board-');
  const runs = await createRunStore(own);
  const project: typeof runs.project = async (id, update, next) => {
    const isThere = await runs.project(id, update, next);
    await announce(id, update.version);
    return isThere;
  };
  const records = await own.collection<WorkflowRunRecord>({
    name: 'workflow-runs',
    indexes: [{ keys: { status: 1, _id: 1 } }, { keys: { 'workflow.slug': 1, _id: -1 } }],
  });
  return {
    /** As the engine reads and writes them. */
    engine: { ...runs, project },
    continuations: await createContinuationStore(own),

    /** Stores a run, or returns the one that has its id already. */
    async begin(run: WorkflowRunRecord): Promise<WorkflowRunRecord> {
      const begun = await insertOrGet(records, run);
      await announce(begun._id, begun.revision);
      return begun;
    },
    get: (id: string): Promise<WorkflowRunRecord | undefined> => records.get(id),
    /** With all of its stages. */
    async getWhole(id: string): Promise<WorkflowRunRecord | undefined> {
      const run = await records.get(id);
      return run && { ...run, stages: (await runs.whole(run)).stages };
    },

    /** Runs that ended before a time, ISO text. */
    async *endedBefore(at: string): AsyncGenerator<WorkflowRunRecord> {
      for (const status of endedStatuses) {
        yield* inPages(records, { status, ended_at: { $lt: at } });
      }
    },

    /** Removes a run that has ended, with its stages; whether it was there. */
    removeEnded: (id: string): Promise<boolean> => runs.removeEnded(id),

    /** The newest first. */
    list: (filter: WorkflowRunFilter, part: PageRequest): Promise<Page<WorkflowRunRecord>> =>
      findPage(records, { filter: filterOf(filter), order: { key: '_id', direction: -1 } }, part),

    /** How the latest runs of a workflow ended that were not cancelled, the newest first. */
    async outcomes(workflowId: string, limit: number): Promise<RunOutcome[]> {
      const filter = filterOf({ workflowIds: [workflowId], statuses: ['completed', 'failed'] });
      const found = await records.find(filter, { sort: { _id: -1 }, limit });
      return found.map(({ status, started_at, created_at, ended_at = created_at, board: { taskType } }) => ({
        ...{ succeeded: status === 'completed', endedAt: ended_at },
        ...compact({ startedAt: started_at, taskType }),
      }));
    },

    count: (filter: WorkflowRunFilter): Promise<number> => records.count(filterOf(filter)),
  };
}
export type WorkflowRunStore = Awaited<ReturnType<typeof createWorkflowRunStore>>;
