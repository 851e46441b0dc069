import type { Filter } from 'mongodb';
import type { Ceremony, CeremonyQuery } from '../../contracts/governance/ceremony';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOrGet } from '../port/insert';

type Document = Stored & Omit<Ceremony, 'id'>;

const present = ({ _id, ...fields }: Document): Ceremony => ({ id: _id, ...fields });
const newest = { createdAt: -1, _id: -1 } as const;

/** More than one task has; those beyond are not read. */
const maxOfTask = 1_000;

/** Ceremonies, and which of them are still to be held. */
export async function createCeremonyStore(db: Database) {
  const ceremonies = await db.collection<Document>({
    name: 'ceremonies',
    indexes: [
      { keys: { 'target.taskId': 1, ...newest } },
      { keys: { status: 1, ...newest } },
      { keys: { kind: 1, ...newest } },
      { keys: newest },
    ],
  });

  return {
    /** Records a ceremony, or returns the one that has its id already. */
    async open({ id, ...fields }: Ceremony): Promise<Ceremony> {
      return present(await insertOrGet(ceremonies, { _id: id, ...fields }));
    },

    async get(id: string): Promise<Ceremony | undefined> {
      const record = await ceremonies.get(id);
      return record && present(record);
    },

    /** The newest first. */
    async list({ status, kind, taskId, ...part }: CeremonyQuery): Promise<Page<Ceremony>> {
      const filter: Filter<Document> = {
        ...(taskId === undefined ? {} : { 'target.taskId': taskId }),
        ...compact({ status, kind }),
        createdAt: { $gt: '' },
      };
      return (await findPage(ceremonies, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },

    /** Those of one task. */
    async ofTask(taskId: string): Promise<Ceremony[]> {
      return (await ceremonies.find({ 'target.taskId': taskId }, { sort: newest, limit: maxOfTask })).map(present);
    },

    /** The completed ceremony; `undefined` when there is none, or it is not pending any more. */
    async complete(
      id: string,
      {
        completedAt,
        ...outcome
      }: Required<Pick<Ceremony, 'completedBy' | 'completedAt' | 'artifacts' | 'actionItems'>>,
    ): Promise<Ceremony | undefined> {
      const completed = await ceremonies.findOneAndUpdate(
        { _id: id, status: 'pending' },
        { $set: { ...outcome, status: 'completed', completedAt, updatedAt: completedAt } },
      );
      return completed && present(completed);
    },
  };
}

export type CeremonyStore = Awaited<ReturnType<typeof createCeremonyStore>>;
