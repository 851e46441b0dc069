import { createTrustStore } from '../../stores/trust-store';
import type { OpenArea } from '../durable-context';
import type { TrustContext } from './context';
import { createTrustLauncher } from './launcher';
import { trustRoutes } from './routes';

export const openWorkspaceTrust: OpenArea = async ({
  board,
  client,
  database,
  now,
  proofs,
  repositories,
  runs,
  traces,
}) => {
  const context: TrustContext = {
    board,
    repositories,
    worktrees: runs.worktrees,
    hosts: runs.hosts,
    trust: await createTrustStore(database),
    launcher: createTrustLauncher(client, proofs),
    traces,
    now,
  };
  return (routes) => trustRoutes(routes, context);
};
