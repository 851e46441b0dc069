import { z } from 'zod';
import { objectName, slug } from '../common';
import { listPage, nextCursor } from '../query';
import { repository } from './repository';

const { path, hostId, defaultBranch, remote, allowFilters } = repository.shape;

/** A repository that might be added, or be changed to this. */
export const repositoryCandidate = z
  .strictObject({ name: slug.optional(), path, hostId, defaultBranch, remote, allowFilters })
  .meta({ id: 'RepositoryCandidate' });
export type RepositoryCandidate = z.infer<typeof repositoryCandidate>;

/** The most remotes that are named. */
export const maxRemotes = 100;

/** What HEAD leads to: the branch that is checked out, and its commit. Each is absent where there is none. */
const head = z.object({ branch: z.string().optional(), commit: objectName.optional() });

export const repositoryValidation = z
  .object({
    /** Whether the host can use the repository like that, and the name is free. */
    valid: z.boolean(),
    /** The host that inspected it. */
    hostId: slug,
    problems: z.array(
      z.object({
        field: z.enum(['name', 'path', 'remote', 'allowFilters', 'defaultBranch']),
        message: z.string(),
      }),
    ),
    /** Of a path with a repository that git can read; so are the following. */
    head: head.optional(),
    /** The branch that was looked for. */
    defaultBranch: z.string().optional(),
    remotes: z.array(z.string()).max(maxRemotes).optional(),
  })
  .meta({ id: 'RepositoryValidation' });
export type RepositoryValidation = z.infer<typeof repositoryValidation>;

/** `hostId`: of a repository that is configured without one, which live host is asked. */
export const branchQuery = z.strictObject({ ...listPage(100, 200), hostId: slug.optional() });

const repositoryBranch = z.object({
  name: z.string(),
  /** The object that it is at. */
  head: objectName,
  /** Whether it has the name of the repository's `defaultBranch`. */
  isDefault: z.boolean(),
  /** The remote whose branch it is, as it was fetched last; absent for the repository's own. */
  remote: z.string().optional(),
});

export const repositoryBranches = z
  .object({
    repo: slug,
    hostId: slug,
    defaultBranch: z.string(),
    branches: z.array(repositoryBranch),
    /** How many more there are under names that no task can name as its base. */
    unlisted: z.number().int(),
    nextCursor,
  })
  .meta({ id: 'RepositoryBranches' });
