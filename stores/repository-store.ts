import type { z } from 'zod';
import type { Repository, repositoryPatch } from '../contracts/repository';
import type { Database, Stored } from './collection';

export type RepositoryPatch = z.infer<typeof repositoryPatch>;

type RepositoryDocument = Stored & Omit<Repository, 'name'>;

export interface RepositoryStore {
  /** By name, at most 1,000. */
  list(): Promise<Repository[]>;
  find(name: string): Promise<Repository | undefined>;
  /** @throws DuplicateKeyError when the name is taken */
  add(repository: Repository): Promise<Repository>;
  /** Changes the given fields; `undefined` when there is no such repository. */
  change(name: string, patch: RepositoryPatch): Promise<Repository | undefined>;
  /** Whether there was one. */
  remove(name: string): Promise<boolean>;
}

const maxListed = 1000;

const present = ({ _id, ...rest }: RepositoryDocument): Repository => ({ name: _id, ...rest });

/** The repositories that tasks may name in `git.repo`; their name is their identity. */
export async function createRepositoryStore(db: Database): Promise<RepositoryStore> {
  const repositories = await db.collection<RepositoryDocument>({ name: 'repositories' });
  const find = async (name: string): Promise<Repository | undefined> => {
    const document = await repositories.get(name);
    return document && present(document);
  };
  return {
    find,
    async list() {
      // Every id is greater than the empty one; a query without a filter would be refused as unindexed.
      const documents = await repositories.find({ _id: { $gt: '' } }, { sort: { _id: 1 }, limit: maxListed });
      return documents.map(present);
    },
    async add(repository) {
      const { name, ...rest } = repository;
      await repositories.insert({ _id: name, ...rest });
      return repository;
    },
    async change(name, patch) {
      if (Object.keys(patch).length === 0) return find(name);
      const document = await repositories.findOneAndUpdate({ _id: name }, { $set: patch });
      return document && present(document);
    },
    async remove(name) {
      return (await repositories.deleteMany({ _id: name })) > 0;
    },
  };
}
