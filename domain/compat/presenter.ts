import type { z } from 'zod';
import type { Task } from '../../contracts/tasks/task';

/** The worktree of a task, as far as a reply names it. */
export interface TaskWorktree {
  path: string;
  manifestId: string;
  branch: string;
  base: { branch: string; sha: string; source: string };
  lease: { leaseId: string; ownerAttemptId: string | null };
}

/** What presenters use of each other: how a task comes in a reply, with its worktree. */
export interface PresentationTools {
  task: (task: Task) => unknown;
}

/** One row of the table: what becomes of the reply of some operations, and which query names they take besides their own. */
export interface CompatRow {
  operations: readonly string[];
  /** Query names of the profile. */
  query?: z.ZodObject;
  /** The same in the names of the operation. */
  toQuery?: (own: Record<string, unknown>) => Record<string, string>;
  /**
   * Maps the default reply, as JSON has it; each row knows the type of its own. Pure, and called once more to find the tasks
   * in it.
   */
  present?(reply: unknown, tools: PresentationTools, own: Record<string, unknown>): unknown;
  /** What comes of it. */
  response?: z.ZodType;
}
