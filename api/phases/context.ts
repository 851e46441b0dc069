import type { Approvals } from '../../approvals/approvals';
import type { AttemptStore } from '../../stores/attempt-store';
import type { ApprovalStore } from '../../stores/approval-store';
import type { PhaseStore } from '../../stores/phase-store';
import type { TraceStore } from '../../stores/trace-store';
import type { PhaseLauncher } from './launcher';

/** What the endpoints of phases call. */
export interface PhasesContext {
  attempts: Pick<AttemptStore, 'get' | 'latest'>;
  phases: PhaseStore;
  approvals: ApprovalStore;
  requests: Pick<Approvals, 'request'>;
  launcher: PhaseLauncher;
  traces: Pick<TraceStore, 'record'>;
  now: () => Date;
}
