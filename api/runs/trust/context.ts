import type { WorkflowContext } from '../../context';

/** What the endpoints of workspace trust use. */
export type TrustContext = Pick<
  WorkflowContext,
  'board' | 'hosts' | 'now' | 'repositories' | 'traces' | 'trust' | 'trustLauncher' | 'worktrees'
>;
