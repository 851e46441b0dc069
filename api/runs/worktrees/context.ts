import type { WorkflowContext } from '../../context';

/** What the endpoints of worktrees use. */
export type WorktreesContext = Pick<
  WorkflowContext,
  'board' | 'now' | 'repositories' | 'worktreeLauncher' | 'worktrees'
>;
