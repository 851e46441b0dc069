import { monotonicFactory } from 'ulid';
import { operationUlid } from '../../../platform/operations/new-ids';
import type { Database, Stored } from '../../../stores/port/collection';
import type { Signoff, SignoffInput } from './signoff';

interface SignoffRecord extends Stored, SignoffInput {
  created_at: string;
}

export type SignoffFilter = Partial<Record<'control' | 'repository' | 'commit_sha', string>>;

const present = ({ _id, control, repository, ...rest }: SignoffRecord): Signoff => ({
  id: _id,
  control: { slug: control },
  repository: { name: repository },
  result: rest.status,
  ...rest,
});

/** Signoffs are never changed: a later one of the same control, repository and commit counts instead. */
export async function createSignoffStore(db: Database) {
  const newest = { _id: -1 } as const;
  const nextId = monotonicFactory();
  const signoffs = await db.collection<SignoffRecord>({
    name: 'verification-signoffs',
    indexes: [
      { keys: { control: 1, ...newest } },
      { keys: { repository: 1, ...newest } },
      { keys: { commit_sha: 1, ...newest } },
      { keys: { control: 1, repository: 1, commit_sha: 1, ...newest } },
    ],
  });
  return {
    async add(input: SignoffInput, at: Date): Promise<Signoff> {
      const record = { _id: operationUlid(at, nextId), ...input, created_at: at.toISOString() };
      await signoffs.insert(record);
      return present(record);
    },

    async get(id: string): Promise<Signoff | undefined> {
      const record = await signoffs.get(id);
      return record && present(record);
    },

    /** The newest first, so that the first of a control, repository and commit is the one that counts. */
    async list(filter: SignoffFilter, page: { skip: number; limit: number }): Promise<Signoff[]> {
      return (await signoffs.find({ _id: { $gt: '' }, ...filter }, { sort: newest, ...page })).map(present);
    },
  };
}
