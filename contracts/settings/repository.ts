import { z } from 'zod';
import { slug, text } from '../common';
import { forgeConnection } from '../integrations/forge';
import { nextCursor } from '../query';

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
