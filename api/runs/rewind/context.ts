import type { WorkflowContext } from '../../context';

/** What the endpoints of rewinds use. */
export type RewindContext = Pick<
  WorkflowContext,
  'approvalRequests' | 'approvals' | 'attempts' | 'checkpoints' | 'now' | 'rewindLauncher' | 'rewinds' | 'workspaceId'
>;
