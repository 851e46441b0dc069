import type { HookExecution, HookFields } from '../../contracts/settings/hook';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';
import { findPage } from '../port/find-page';

/** Executions are retained for a month. */
const keptSeconds = 30 * 86_400;

type ExecutionRecord = Stored & Omit<HookExecution, 'id'>;

/** Hooks by id (specification 1, Lifecycle hooks). */
export const createHookStore = (db: Database) => createConfiguredRecords<HookFields>(db, 'hooks');

export type HookStore = Awaited<ReturnType<typeof createHookStore>>;

/** What came of hooks: one record for each hook and change, whatever it took. */
export async function createHookExecutionStore(db: Database) {
  const newest = { executedAt: -1, _id: -1 } as const;
  const executions = await db.collection<ExecutionRecord>({
    name: 'hook-executions',
    indexes: [{ keys: newest }, { keys: { hookId: 1, ...newest } }, { keys: { taskId: 1, ...newest } }],
    expire: { field: 'executedAt', afterSeconds: keptSeconds },
  });
  return {
    /** Notes so many attempts more, and what came of it. */
    async note({ id, attempts, ...attempt }: HookExecution): Promise<void> {
      await executions.findOneAndUpdate({ _id: id }, { $set: attempt, $inc: { attempts } }, { upsert: true });
    },
    /** Whether it was delivered, or is not to be. */
    async isOver(id: string): Promise<boolean> {
      const state = (await executions.get(id))?.state;
      return state === 'delivered' || state === 'blocked';
    },
    /** No worker tries it any more. */
    async giveUp(id: string): Promise<void> {
      await executions.findOneAndUpdate({ _id: id, state: 'pending' }, { $set: { state: 'failed' } });
    },
    /** The newest first. */
    async list({
      hookId,
      taskId,
      ...part
    }: PageRequest & { hookId?: string | undefined; taskId?: string | undefined }): Promise<Page<HookExecution>> {
      const filter = {
        ...compact({ hookId, taskId }),
        executedAt: { $gt: '' },
      };
      const page = await findPage(executions, { filter, order: { key: 'executedAt', direction: -1 } }, part);
      return page.map(({ _id, ...rest }) => ({ id: _id, ...rest }));
    },
  };
}

export type HookExecutionStore = Awaited<ReturnType<typeof createHookExecutionStore>>;
