import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { ensureWorktree } from './ensure-worktree';
import type { AgentRunInput } from './messages';
import { prepareOn } from './proxies';

/** Prepares the launch; a task whose worktree is not there yet, or not at rest, gets it first. */
export async function prepareLaunch(input: AgentRunInput, hostId: string | null): Promise<LaunchOutcome> {
  const launch = await prepareOnHost(input, hostId);
  const awaited = launch.status === 'refused' && ['WORKTREE_MISSING', 'WORKTREE_BUSY'].includes(launch.code);
  if (!awaited || hostId === null) {
    return launch;
  }
  return (await ensureWorktree(input, hostId)) ?? (await prepareOnHost(input, hostId));
}

/** A host that stays unavailable refuses the launch; nothing has been started on it. */
async function prepareOnHost({ attemptId, timings }: AgentRunInput, hostId: string | null): Promise<LaunchOutcome> {
  try {
    return await prepareOn(hostId, timings).prepare({ attemptId });
  } catch {
    return {
      status: 'refused',
      code: 'HOST_UNAVAILABLE',
      message: `The host ${hostId ?? 'board'} did not prepare the run; start a worker on it and launch again.`,
      details: { hostId },
    };
  }
}
