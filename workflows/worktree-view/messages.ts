import type { ConflictRead } from '../../contracts/runs/conflict';
import type { DiffRead } from '../../contracts/runs/diff';
import type { Signed } from '../message-proofs';

/** A view is requested once and not stored; the id only has to be new. */
export const worktreeViewId = (unique: string): string => `worktree-view/${unique}`;

/** One that is to be opened is signed by the API. */
export interface WorktreeLocation extends Signed {
  taskId: string;
  hostId: string;
}

/** A query for a diff or for conflicts, as the API has signed it. */
export type DiffQuery = (DiffRead | ConflictRead) & Signed;

/** The same for a host; which one it is, is not signed: another one has no such worktree. */
export interface DiffInput {
  hostId: string;
  query: DiffQuery;
}
