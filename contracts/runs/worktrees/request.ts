import { z } from 'zod';
import { objectName, text } from '../../common';
import { listPage } from '../../query';

export const worktreeCreate = z
  .strictObject({
    allowStaleBase: z.boolean().optional(),
    staleBaseAcknowledgement: z.strictObject({ reason: text(1000, 1) }).optional(),
    leaseSeconds: z.number().int().min(60).max(31_536_000).optional(),
  })
  .refine(({ allowStaleBase, staleBaseAcknowledgement }) => !allowStaleBase || staleBaseAcknowledgement !== undefined, {
    path: ['staleBaseAcknowledgement'],
    message: 'is required with allowStaleBase: the reason for using a stale base',
  })
  .meta({ id: 'WorktreeCreate' });
export type WorktreeCreate = z.infer<typeof worktreeCreate>;

export const worktreeAdopt = z
  .strictObject({ leaseSeconds: z.number().int().min(60).max(31_536_000).optional() })
  .meta({ id: 'WorktreeAdopt' });
export type WorktreeAdopt = z.infer<typeof worktreeAdopt>;

/**
 * `onto` is an exact commit of the base branch; without it, the base as the remote has it now. A conflict puts everything back
 * (`abort`, the default), or is left in the worktree to be resolved (`keep`).
 */
export const worktreeRebase = z
  .strictObject({
    onto: objectName.optional(),
    expectedHead: objectName.optional(),
    onConflict: z.enum(['abort', 'keep']).optional(),
  })
  .meta({ id: 'WorktreeRebase' });
export type WorktreeRebase = z.infer<typeof worktreeRebase>;

/**
 * `expectedHead`: refuse when the worktree's HEAD is another commit than the caller has inspected. `commit`: what is not
 * committed is committed first, under `commitMessage`, and merged too.
 */
export const worktreeMerge = z
  .strictObject({
    message: text(5000, 1).optional(),
    expectedHead: objectName.optional(),
    commit: z.boolean().optional(),
    commitMessage: text(5000, 1).optional(),
  })
  .meta({ id: 'WorktreeMerge' });
export type WorktreeMerge = z.infer<typeof worktreeMerge>;

/** Commits what is not committed, new files too, on the branch of the worktree. */
export const worktreeCommit = z
  .strictObject({ message: text(5000, 1).optional(), expectedHead: objectName.optional() })
  .meta({ id: 'WorktreeCommit' });
export type WorktreeCommit = z.infer<typeof worktreeCommit>;

export const worktreeRemoval = z
  .strictObject({
    force: z
      .enum(['true', 'false'])
      .default('false')
      .transform((value) => value === 'true'),
    reason: text(1000, 1).optional(),
  })
  .refine(({ force, reason }) => !force || reason !== undefined, {
    path: ['reason'],
    message: 'is required with force=true: it is recorded with the removal',
  })
  .meta({ id: 'WorktreeRemoval' });
export type WorktreeRemoval = z.infer<typeof worktreeRemoval>;

export const cleanupQuery = z
  .strictObject({
    page: z.coerce.number().int().min(1).max(100_000).default(1),
    ...listPage(20, 50),
  })
  .meta({ id: 'WorktreeCleanupQuery' });

/** The request of each kind of operation. */
export type WorktreeRequest =
  | ({ kind: 'create' } & WorktreeCreate)
  | ({ kind: 'adopt' } & WorktreeAdopt)
  | ({ kind: 'rebase' } & WorktreeRebase)
  | ({ kind: 'commit' } & WorktreeCommit)
  /** `anyBranch`: requested by an administrator, who may merge into any branch. */
  | ({ kind: 'merge'; anyBranch?: boolean } & WorktreeMerge)
  | { kind: 'cleanup'; force: boolean; reason?: string }
  /** `content`: the hash under which the text is stored. */
  | { kind: 'resolve'; path: string; resolution: 'ours' | 'theirs' | 'manual'; content?: string }
  | { kind: 'continue'; message?: string }
  | { kind: 'abort' };
