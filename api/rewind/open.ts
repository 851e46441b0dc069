import { createApprovals } from '../../approvals/approvals';
import { createCheckpointStore } from '../../stores/checkpoint-store';
import { createRewindStore } from '../../stores/rewind-store';
import type { OpenArea } from '../durable-context';
import type { RewindContext } from './context';
import { createRewindLauncher } from './launcher';
import { rewindRoutes } from './routes';

export const openRewind: OpenArea = async ({ approvals, client, database, feed, now, proofs, runs }) => {
  const context: RewindContext = {
    attempts: runs.attempts,
    checkpoints: await createCheckpointStore(database),
    rewinds: await createRewindStore(database),
    approvalStore: approvals,
    approvals: createApprovals({ ...runs, feed, approvals, client, now }),
    launcher: createRewindLauncher(client, proofs),
    now,
  };
  return (routes) => rewindRoutes(routes, context);
};
