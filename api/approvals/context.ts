import type { ApprovalStore } from '../../stores/approval-store';
import type { PhaseStore } from '../../stores/phase-store';
import type { ApprovalLauncher } from './launcher';

/** What the endpoints of approvals call. */
export interface ApprovalsContext {
  approvals: ApprovalStore;
  phases: Pick<PhaseStore, 'get'>;
  launcher: ApprovalLauncher;
  now: () => Date;
}
