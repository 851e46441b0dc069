import type { Filter } from 'mongodb';
import type {
  RunContinuation,
  RunContinuationQuery,
} from '../../../contracts/governance/watcher-policies/run-continuation';
import type { Page } from '../../../platform/lists/page';
import type { Database, Stored } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { inPages } from '../../port/in-pages';
import { insertOrGet } from '../../port/insert';

type ContinuationRecord = Stored & Omit<RunContinuation, 'sourceAttemptId'>;

const present = ({ _id, ...fields }: ContinuationRecord): RunContinuation => ({ sourceAttemptId: _id, ...fields });

/** As long as the traces of their decisions. */
const keptSeconds = 90 * 86_400;

/** What the watcher has continued by itself: one for each run that ended, so that none is continued twice. */
export async function createRunContinuationStore(db: Database) {
  const newest = { plannedAt: -1, _id: -1 } as const;
  const continuations = await db.collection<ContinuationRecord>({
    name: 'run-continuations',
    indexes: [{ keys: newest }, { keys: { taskId: 1, ...newest } }, { keys: { state: 1, _id: 1 } }],
    expire: { field: 'plannedAt', afterSeconds: keptSeconds },
  });
  return {
    /** Plans the continuation of a run once; the first plan stands. */
    async plan({ sourceAttemptId, ...fields }: RunContinuation): Promise<RunContinuation> {
      return present(await insertOrGet(continuations, { _id: sourceAttemptId, ...fields }));
    },

    async get(sourceAttemptId: string): Promise<RunContinuation | undefined> {
      const record = await continuations.get(sourceAttemptId);
      return record && present(record);
    },

    /** Records what came of a planned continuation; the first outcome stands. */
    async settle(
      sourceAttemptId: string,
      outcome: Pick<RunContinuation, 'state' | 'settledAt' | 'error'>,
    ): Promise<RunContinuation | undefined> {
      const settled = await continuations.findOneAndUpdate(
        { _id: sourceAttemptId, state: 'planned' },
        { $set: outcome },
      );
      return settled && present(settled);
    },

    /** The newest first. */
    async list({ taskId, ...part }: RunContinuationQuery): Promise<Page<RunContinuation>> {
      const filter = {
        ...(taskId === undefined ? {} : { taskId }),
        plannedAt: { $gte: '' },
      } as Filter<ContinuationRecord>;
      return (await findPage(continuations, { filter, order: { key: 'plannedAt', direction: -1 } }, part)).map(present);
    },

    /** The runs whose continuation is planned and has no outcome. */
    async *planned(pageSize?: number): AsyncGenerator<string> {
      for await (const { _id } of inPages(continuations, { state: 'planned' }, pageSize)) {
        yield _id;
      }
    },
  };
}

export type RunContinuationStore = Awaited<ReturnType<typeof createRunContinuationStore>>;
