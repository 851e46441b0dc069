import {
  type DeliverableRun,
  type DeliverableRunStatus,
  runRetentionDays,
} from '../../../contracts/runs/schedules/scheduled-deliverable';
import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Database } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { inPages } from '../../port/in-pages';
import { insertOrGet } from '../../port/insert';

/** A run with the workflow that takes it to its end; none for one that was reported. */
export interface DeliverableRunRecord extends Omit<DeliverableRun, 'id'> {
  _id: string;
  /** Its id within the workspace. */
  workflow: string | null;
  /** What the agent was to write when it was launched. */
  outputPath?: string;
}

export const presentRun = ({ _id, workflow: _w, outputPath: _o, ...run }: DeliverableRunRecord): DeliverableRun => ({
  id: _id,
  ...run,
});

/** Runs of scheduled deliverables. */
export async function createScheduledDeliverableRunStore(db: Database) {
  const runs = await db.collection<DeliverableRunRecord>({
    name: 'scheduled-deliverable-runs',
    indexes: [
      { keys: { deliverableId: 1, startedAt: -1, _id: -1 } },
      { keys: { deliverableId: 1, status: 1, _id: 1 } },
      { keys: { status: 1, _id: 1 } },
      { keys: { startedAt: -1, _id: -1 } },
    ],
    expire: { field: 'startedAt', afterSeconds: runRetentionDays * 86_400 },
  });
  return {
    /** Records a run, or returns the one that has its id already. */
    begin: (run: DeliverableRunRecord): Promise<DeliverableRunRecord> => insertOrGet(runs, run),

    get: (id: string): Promise<DeliverableRunRecord | undefined> => runs.get(id),

    /** Changes a run in this status; `undefined` when it is in another one by now. */
    change: (
      id: string,
      from: DeliverableRunStatus,
      fields: Partial<Omit<DeliverableRunRecord, '_id'>>,
    ): Promise<DeliverableRunRecord | undefined> => runs.findOneAndUpdate({ _id: id, status: from }, { $set: fields }),

    /** Of one deliverable, the newest first. */
    ofDeliverable: (deliverableId: string, part: PageRequest): Promise<Page<DeliverableRunRecord>> =>
      findPage(runs, { filter: { deliverableId }, order: { key: 'startedAt', direction: -1 } }, part),

    /** Those of one deliverable that are under way, the oldest first. */
    async runningOf(deliverableId: string): Promise<DeliverableRunRecord[]> {
      const running = await runs.find({ deliverableId, status: 'running' }, { limit: 1_000 });
      return running.sort((a, b) => a.startedAt.localeCompare(b.startedAt) || a._id.localeCompare(b._id));
    },

    /** Of all deliverables, the newest first. */
    recent: (limit: number): Promise<DeliverableRunRecord[]> =>
      runs.find({}, { sort: { startedAt: -1, _id: -1 }, limit }),

    /** Every one that is under way. */
    running: (pageSize?: number): AsyncGenerator<DeliverableRunRecord> =>
      inPages(runs, { status: 'running' }, pageSize),
  };
}
export type ScheduledDeliverableRunStore = Awaited<ReturnType<typeof createScheduledDeliverableRunStore>>;
