import type { ScheduledLaunch, ScheduledOutcome } from '../../../contracts/runs/launch/scheduled-launch';
import type { Database, Stored } from '../../port/collection';
import { createConfiguredRecords, type Recorded } from '../../port/configured-records';

/** What a schedule launches, in the name of which actor, and in which workspace it is counted. */
export interface ScheduledLaunchFields extends Pick<
  ScheduledLaunch,
  'taskId' | 'launch' | 'spec' | 'paused' | 'createdBy'
> {
  workspaceId: string;
}
export type ScheduledLaunchRecord = ScheduledLaunchFields & Recorded;

/** Definitions of launches by schedules: the truth, which the Schedules in Temporal follow. */
export const createScheduledLaunchStore = (db: Database) =>
  createConfiguredRecords<ScheduledLaunchFields>(db, 'scheduled-launches');
export type ScheduledLaunchStore = Awaited<ReturnType<typeof createScheduledLaunchStore>>;

/** What came of the last launch of each definition: no change of the definition. */
export async function createScheduledOutcomeStore(db: Database) {
  const outcomes = await db.collection<Stored & ScheduledOutcome>({ name: 'scheduled-launch-outcomes' });
  return {
    async get(id: string): Promise<ScheduledOutcome | null> {
      const outcome = await outcomes.get(id);
      if (!outcome) {
        return null;
      }
      const { at, status, attemptId, code, message } = outcome;
      return { at, status, attemptId, code, message };
    },
    async note(id: string, outcome: ScheduledOutcome): Promise<void> {
      await outcomes.findOneAndUpdate({ _id: id }, { $set: outcome }, { upsert: true });
    },
    async remove(id: string): Promise<void> {
      await outcomes.deleteMany({ _id: id });
    },
  };
}
export type ScheduledOutcomeStore = Awaited<ReturnType<typeof createScheduledOutcomeStore>>;
