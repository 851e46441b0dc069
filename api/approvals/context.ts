import type { ApprovalStore } from '../../stores/approval-store';
import type { ApprovalLauncher } from './launcher';

/** What the endpoints of approvals call. */
export interface ApprovalsContext {
  approvals: ApprovalStore;
  launcher: ApprovalLauncher;
  now: () => Date;
}
