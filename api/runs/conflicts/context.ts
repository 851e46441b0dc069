import type { WorkflowContext } from '../../context';

/** What the endpoints of conflicts use. */
export type ConflictsContext = Pick<
  WorkflowContext,
  'board' | 'conflictResolutions' | 'now' | 'repositories' | 'worktreeLauncher' | 'worktrees'
>;
