import type { WorkflowContext } from '../../context';

/** What the endpoints of phases use. */
export type PhasesContext = Pick<
  WorkflowContext,
  'approvalRequests' | 'approvals' | 'attempts' | 'now' | 'phaseLauncher' | 'phases' | 'traces' | 'workspaceId'
>;
