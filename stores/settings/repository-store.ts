import type { z } from 'zod';
import type { Repository, repositoryPatch } from '../../contracts/settings/repository';
import type { Database, Stored } from '../port/collection';
import { inPages } from '../port/in-pages';

export type RepositoryPatch = z.infer<typeof repositoryPatch>;

type RepositoryDocument = Stored & Omit<Repository, 'name'>;

export interface RepositoryStore {
  /** All of them, by name. */
  list(): Promise<Repository[]>;
  find(name: string): Promise<Repository | undefined>;
  /** @throws DuplicateKeyError when the name is taken */
  add(repository: Repository): Promise<Repository>;
  /** Changes the fields of `patch`; `undefined` when there is no such repository. */
  change(name: string, patch: RepositoryPatch): Promise<Repository | undefined>;
  /** Whether there was one. */
  remove(name: string): Promise<boolean>;
}

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
      const all: Repository[] = [];
      for await (const document of inPages(repositories, {})) {
        all.push(present(document));
      }
      return all;
    },
    async add(repository) {
      const { name, ...rest } = repository;
      await repositories.insert({ _id: name, ...rest });
      return repository;
    },
    async change(name, patch) {
      if (Object.keys(patch).length === 0) {
        return find(name);
      }
      const document = await repositories.findOneAndUpdate({ _id: name }, { $set: patch });
      return document && present(document);
    },
    async remove(name) {
      return (await repositories.deleteMany({ _id: name })) > 0;
    },
  };
}
