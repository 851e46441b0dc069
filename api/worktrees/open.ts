import { createWorktreeStore } from '../../stores/worktree-store';
import type { OpenArea } from '../durable-context';
import type { WorktreesContext } from './context';
import { createWorktreeLauncher } from './launcher';
import { worktreeRoutes } from './routes';

export const openWorktrees: OpenArea = async ({ board, repositories, client, ask, proofs, database, env, now }) => {
  const launcher = createWorktreeLauncher({
    client,
    ask,
    proofs,
    heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS,
  });
  const context: WorktreesContext = {
    board,
    repositories,
    worktrees: await createWorktreeStore(database),
    launcher,
    now,
  };
  return (routes) => worktreeRoutes(routes, context);
};
