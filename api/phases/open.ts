import { createApprovals } from '../../approvals/approvals';
import { createPhaseStore } from '../../stores/phase-store';
import type { OpenArea } from '../durable-context';
import type { PhasesContext } from './context';
import { createPhaseLauncher } from './launcher';
import { phaseRoutes } from './routes';

export const openPhases: OpenArea = async ({ approvals, client, database, feed, now, proofs, runs, traces }) => {
  const context: PhasesContext = {
    attempts: runs.attempts,
    phases: await createPhaseStore(database),
    approvals,
    requests: createApprovals({ ...runs, feed, approvals, client, now }),
    launcher: createPhaseLauncher(client, proofs),
    traces,
    now,
  };
  return (routes) => phaseRoutes(routes, context);
};
