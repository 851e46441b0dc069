import type { WorkflowContext } from '../../context';

/** What the endpoints of approvals use. */
export type ApprovalsContext = Pick<WorkflowContext, 'approvalLauncher' | 'approvals' | 'now' | 'phases'>;
