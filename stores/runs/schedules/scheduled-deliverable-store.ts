import type { ScheduledDeliverable } from '../../../contracts/runs/schedules/scheduled-deliverable';
import type { Database } from '../../port/collection';
import { createConfiguredRecords, type Recorded } from '../../port/configured-records';

/** What is made again and again, when, by whom, and in whose name. */
export type ScheduledDeliverableFields = Omit<ScheduledDeliverable, keyof Recorded | 'lastRun'>;
export type ScheduledDeliverableRecord = ScheduledDeliverableFields & Recorded;

/** Definitions of scheduled deliverables: the truth, which the Schedules in Temporal follow. */
export const createScheduledDeliverableStore = (db: Database) =>
  createConfiguredRecords<ScheduledDeliverableFields>(db, 'scheduled-deliverables');
export type ScheduledDeliverableStore = Awaited<ReturnType<typeof createScheduledDeliverableStore>>;
