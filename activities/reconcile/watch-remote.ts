import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { type RunWatch, type WatchdogDependencies, watchRun } from '../agent-run/dispatch/watchdog';

/** Whether an attempt is one of an agent elsewhere that is at work. */
export const isAtWorkElsewhere = ({ provider, state, completion }: AttemptRecord): boolean =>
  provider === 'remote-callback' && state === 'running' && !completion;

/**
 * Watches runs of agents elsewhere over the log of their events: nothing of theirs passes through here. A worker that has not
 * watched a run before begins at its first event, and its findings are recorded already.
 */
export function watchRemoteRuns(deps: WatchdogDependencies): (attempts: readonly AttemptRecord[]) => Promise<void> {
  const watches = new Map<string, RunWatch>();
  return async (remote) => {
    const ids = new Set(remote.map(({ _id }) => _id));
    for (const id of watches.keys()) {
      if (!ids.has(id)) {
        watches.delete(id);
      }
    }
    for (const record of remote) {
      const watch = watches.get(record._id) ?? watchRun(deps, record);
      watches.set(record._id, watch);
      await watch.caughtUp();
    }
  };
}
