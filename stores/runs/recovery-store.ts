import type { RunRecovery } from '../../contracts/runs/recovery';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Database } from '../port/collection';
import { findPage } from '../port/find-page';
import { inPages } from '../port/in-pages';

type RecoveryRecord = RunRecovery & { _id: string };

interface RecoveryMove {
  from: RunRecovery['state'][];
  fields: Partial<Pick<RunRecovery, 'action' | 'state' | 'cancelledBy'>>;
  updatedAt: string;
}

/** States in which the next attempt is yet to be launched. */
const unfinishedStates: RunRecovery['state'][] = ['scheduled', 'launching'];

/**
 * `run-recovery/v1` records, one for each attempt that ended without success and may be followed by another.
 *
 * @param announce called after a record was stored or changed, again when that is repeated
 */
export async function createRecoveryStore(
  db: Database,
  announce: (recovery: RunRecovery) => Promise<unknown> = () => Promise.resolve(),
) {
  const records = await db.collection<RecoveryRecord>({
    name: 'run-recoveries',
    indexes: [
      { keys: { taskId: 1, createdAt: -1 } },
      { keys: { 'workflow.runId': 1, 'workflow.stepId': 1, createdAt: -1 } },
      { keys: { state: 1, _id: 1 } },
    ],
  });
  const announced = async (record: RecoveryRecord | undefined): Promise<RunRecovery | undefined> => {
    if (record) {
      await announce(present(record));
    }
    return record && present(record);
  };
  return {
    /** Writes the record of `attemptId` once; a repeated call changes nothing and returns the stored record. */
    async schedule(record: RunRecovery): Promise<RunRecovery> {
      const { revision: _revision, ...fields } = record;
      const stored = await records.findOneAndUpdate(
        { _id: record.attemptId },
        { $setOnInsert: { ...fields, revision: 1 } },
        { upsert: true },
      );
      return (await announced(stored)) ?? record;
    },
    async get(attemptId: string): Promise<RunRecovery | undefined> {
      const record = await records.get(attemptId);
      return record && present(record);
    },

    /** Moves the recovery on from one of these states; `undefined` when it is elsewhere. */
    async move(attemptId: string, { from, fields, updatedAt }: RecoveryMove): Promise<RunRecovery | undefined> {
      const moved = await records.findOneAndUpdate(
        { _id: attemptId, state: { $in: from } },
        { $set: { ...fields, updatedAt }, $inc: { revision: 1 } },
      );
      return announced(moved);
    },

    /** Records why the attempt that was to follow was not launched; the first reason wins. */
    async refuse(
      attemptId: string,
      nextAttemptId: string,
      refusal: NonNullable<RunRecovery['refusal']>,
    ): Promise<RunRecovery | undefined> {
      const refused = await records.findOneAndUpdate(
        { _id: attemptId, nextAttemptId, state: { $in: ['scheduled', 'launching', 'launched'] } },
        {
          $set: { action: 'terminal', state: 'exhausted', refusal, updatedAt: refusal.at },
          $inc: { revision: 1 },
        },
      );
      return announced(refused);
    },

    /** Every one whose next attempt is yet to be launched; one that is being launched meanwhile may be yielded twice. */
    async *unfinished(pageSize?: number): AsyncGenerator<RunRecovery> {
      for (const state of unfinishedStates) {
        for await (const record of inPages(records, { state }, pageSize)) {
          yield present(record);
        }
      }
    },

    /** A page of those whose next attempt is yet to be launched, in the order of their attempts' ids. */
    async underWay(part: PageRequest): Promise<Page<RunRecovery>> {
      const filter = { state: { $in: unfinishedStates } };
      const order = { key: '_id', direction: 1, unique: true } as const;
      return (await findPage(records, { filter, order }, part)).map(present);
    },

    async latest(taskId: string): Promise<RunRecovery | undefined> {
      const [record] = await records.find({ taskId }, { sort: { createdAt: -1 }, limit: 1 });
      return record ? present(record) : undefined;
    },

    async latestOfStep(runId: string, stepId: string): Promise<RunRecovery | undefined> {
      const step = { 'workflow.runId': runId, 'workflow.stepId': stepId };
      const [record] = await records.find(step, { sort: { createdAt: -1 }, limit: 1 });
      return record ? present(record) : undefined;
    },
  };
}

export type RecoveryStore = Awaited<ReturnType<typeof createRecoveryStore>>;

function present({ _id, ...record }: RecoveryRecord): RunRecovery {
  return record;
}
