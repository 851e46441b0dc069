import type { Approvals } from '../../approvals/approvals';
import type { CheckpointStore } from '../../stores/checkpoint-store';
import type { RewindStore } from '../../stores/rewind-store';
import type { ApprovalStore } from '../../stores/approval-store';
import type { RunsContext } from '../runs/context';
import type { RewindLauncher } from './launcher';

/** What the endpoint of rewinds calls. */
export interface RewindContext extends Pick<RunsContext, 'attempts'> {
  checkpoints: CheckpointStore;
  rewinds: RewindStore;
  approvals: Pick<Approvals, 'request'>;
  approvalStore: Pick<ApprovalStore, 'get' | 'expireDue'>;
  launcher: RewindLauncher;
  now: () => Date;
}
