import type { Filter } from 'mongodb';
import type { Reflection, ReflectionQuery } from '../../contracts/knowledge/reflection';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

type ReflectionRecord = Stored & Omit<Reflection, 'id'> & { deleted: boolean };

/** What a decision sets. */
export type ReflectionDecision = Pick<Reflection, 'status'> &
  Partial<Pick<Reflection, 'review' | 'mergedInto' | 'promotion' | 'promotionTarget'>>;

const present = ({ _id, deleted: _deleted, ...reflection }: ReflectionRecord): Reflection => ({
  id: _id,
  ...reflection,
});

/** What was learnt and what was decided about it (specification 1, Reflection candidate). None is ever removed. */
export async function createReflectionStore(db: Database) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const records = await db.collection<ReflectionRecord>({
    name: 'reflections',
    indexes: [
      { keys: { 'source.taskId': 1, ...newest } },
      { keys: { status: 1, ...newest } },
      { keys: { category: 1, ...newest } },
      { keys: { 'source.kind': 1, ...newest } },
      { keys: { deleted: 1, ...newest } },
    ],
  });

  return {
    async add({ id, ...reflection }: Reflection): Promise<void> {
      await records.insert({ _id: id, ...reflection, deleted: false });
    },

    async get(id: string): Promise<Reflection | undefined> {
      const record = await records.get(id);
      return record && present(record);
    },

    /** The newest first; deleted ones only when the query selects them. */
    async list({ status, category, sourceKind, taskId, ...part }: ReflectionQuery): Promise<Page<Reflection>> {
      const filter = compact({
        'source.taskId': taskId,
        status,
        category,
        'source.kind': sourceKind,
        deleted: status === 'deleted',
      }) as Filter<ReflectionRecord>;
      return (await findPage(records, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },

    /** Decides about one that is in one of these states: of several who decide at once, one does. `undefined`: it is not. */
    async decide(
      id: string,
      from: Reflection['status'][],
      decision: ReflectionDecision,
    ): Promise<Reflection | undefined> {
      const changed = await records.findOneAndUpdate(
        { _id: id, status: { $in: from } },
        { $set: { ...compact(decision), deleted: decision.status === 'deleted' } },
      );
      return changed && present(changed);
    },

    /** The lesson of an accepted one is in its task. */
    async promoted(id: string): Promise<Reflection | undefined> {
      const changed = await records.findOneAndUpdate(
        { _id: id, promotion: 'pending' },
        { $set: { promotion: 'done' } },
      );
      return changed && present(changed);
    },
  };
}

export type ReflectionStore = Awaited<ReturnType<typeof createReflectionStore>>;
