import type { PreviewInput } from '../activities/agent-run/prepare/activities';
import type { Refusal } from '../contracts/refusal';
import type { ConflictRead, ConflictReading } from '../contracts/runs/conflict';
import type { DiffRead, DiffReading } from '../contracts/runs/diff';
import type { LaunchPreview } from '../contracts/runs/launch/manifest';
import type { WorktreeInspection } from '../contracts/runs/worktrees/worktree';
import type { Signed } from './message-proofs';

/** The Nexus service that every host has on its queue. */
export const hostService = 'board.host';

/** A query with the workspace that it is of: `local` when absent. */
export type OfWorkspace<T> = T & { workspaceId?: string };

/**
 * The operations of a host's Nexus service, for callers who wait. Queries only: they change nothing, so that a lost response
 * costs nothing; every change is a workflow.
 */
export interface HostOperations {
  /** Compiles a launch without an attempt, as the API has signed it. */
  preview: { input: PreviewInput & Signed; response: LaunchPreview | Refusal };
  /** Inspects the worktree of a task. */
  inspect: { input: { taskId: string } & Signed; response: WorktreeInspection };
  /** Compares states of the files of a task, reads one file, or reads its conflicts; as the API has signed it. */
  readDiff: { input: (DiffRead | ConflictRead) & Signed; response: DiffReading | ConflictReading | Refusal };
}
