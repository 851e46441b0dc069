import type { Refusal } from '../../contracts/refusal';
import { operateAsChild } from '../worktree/child';
import type { AgentRunInput } from './messages';

/**
 * Makes the worktree of the task. Returns why there is none, if so; where that is not known the run inspects the worktree itself.
 */
export async function ensureWorktree(
  { taskId, attemptId, timings }: AgentRunInput,
  hostId: string,
): Promise<Refusal | undefined> {
  const { heartbeatTimeoutMs } = timings;
  const creation = {
    taskId,
    actor: `run:${attemptId}`,
    request: { kind: 'create' as const },
    hostId,
    heartbeatTimeoutMs,
  };
  const outcome = await operateAsChild(creation, `create worktree of ${taskId}`);
  return typeof outcome === 'object' && outcome.status === 'refused' ? outcome : undefined;
}
