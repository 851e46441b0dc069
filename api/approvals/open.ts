import { createPhaseStore } from '../../stores/phase-store';
import type { OpenArea } from '../durable-context';
import type { ApprovalsContext } from './context';
import { createApprovalLauncher } from './launcher';
import { approvalRoutes } from './routes';

export const openApprovals: OpenArea = async ({ approvals, client, database, now, proofs }) => {
  const phases = await createPhaseStore(database);
  const context: ApprovalsContext = { approvals, phases, launcher: createApprovalLauncher(client, proofs), now };
  return (routes) => approvalRoutes(routes, context);
};
