import { z } from 'zod';
import { objectName, slug, text } from '../common';
import { forgeConnection } from '../integrations/forge';
import { listPage, nextCursor } from '../query';

/** A configured repository: an absolute path of a git repository on `hostId` (any live worker host when absent). */
export const repository = z
  .strictObject({
    name: slug,
    path: text(4096, 1).refine(
      (path) => path.startsWith('/') && !path.split('/').includes('..'),
      'must be an absolute path without ..',
    ),
    defaultBranch: text(200, 1).default('main'),
    /** Absent: the upstream of the base branch, else `origin`, else none; `null`: none. */
    remote: text(200, 1).nullable().optional(),
    hostId: slug.optional(),
    /** Branches besides `defaultBranch` that every editor of tasks may merge into. */
    mergeBranches: z.array(text(200, 1)).max(50).optional(),
    /** Filters of git (e.g. `lfs`) whose programs may run, as the operator's own configuration names them. */
    allowFilters: z
      .array(text(100, 1).regex(/^[A-Za-z0-9_-]+$/, 'must be the name of a filter'))
      .max(10)
      .optional(),
    /** Where its pull requests and issues are; `null`: nowhere. */
    forge: forgeConnection.nullable().optional(),
  })
  .meta({ id: 'Repository' });
export type Repository = z.infer<typeof repository>;

/** Without the default of `defaultBranch`: a patch of another field must not reset it. */
export const repositoryPatch = repository
  .omit({ name: true })
  .extend({ defaultBranch: text(200, 1) })
  .partial()
  .meta({ id: 'RepositoryPatch' });
export const repositoryList = z.object({ repos: z.array(repository), nextCursor }).meta({ id: 'RepositoryList' });

/** A repository that might be added, or be changed to this. */
export const repositoryCandidate = z
  .strictObject({ ...repository.shape, name: slug.optional() })
  .omit({ mergeBranches: true, forge: true })
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
