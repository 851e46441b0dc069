import type { WorkflowContext } from '../../context';

/** What the endpoints of diffs use. */
export type DiffContext = Pick<
  WorkflowContext,
  'attempts' | 'board' | 'checkpoints' | 'now' | 'repositories' | 'worktreeLauncher' | 'worktrees'
>;
