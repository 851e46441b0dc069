import { CancellationScope, condition, isCancellation, log, patched } from '@temporalio/workflow';
import type { Admitted } from '../../activities/agent-run/admission/activities';
import type { Reattached } from '../../activities/agent-run/dispatch/reattach';
import { type Ending, timeout } from './ending';
import type { AgentRunInput } from './messages';
import { agentLost } from './orphan';
import { dispatchOn, endingOn, reattachOn, reclaimOn, supervision } from './proxies';
import type { RunMessages } from './run-messages';

/** Runs the agent's process on its host; a lost worker or a stop is an ending, not an error. */
export async function runAgent(
  input: AgentRunInput,
  { hostId, reattach }: Pick<Admitted, 'hostId' | 'reattach'>,
  run: RunMessages,
): Promise<Ending> {
  const scope = new CancellationScope();
  const dispatched = scope.run(() => dispatchOn(hostId, input.timings).dispatch({ attemptId: input.attemptId }));
  void condition(() => run.isCutShort).then(() => end(run, scope));
  try {
    await dispatched;
    return run.cutShort() ?? { by: 'agent' };
  } catch {
    // Histories of earlier versions have no agents that are reattached.
    const reattached = reattach === true ? await reattachAgent(input, hostId, run) : undefined;
    if (reattached?.claimed) {
      return run.cutShort() ?? { by: 'agent' };
    }
    const reclaimed = await reclaim(input, run, { hostId });
    if (reclaimed?.claimed) {
      return run.timedOutAfterMs === undefined ? { by: 'agent' } : timeout(run.timedOutAfterMs);
    }
    const cutShort = run.cutShort();
    if (cutShort?.by === 'timeout') {
      return { ...cutShort, hostReclaimed: reclaimed !== undefined };
    }
    if (cutShort) {
      return cutShort;
    }
    const reason = `The worker that ran the agent was lost${agentLost(reattached?.reason)}.`;
    return { by: 'lost', reason, hostReclaimed: reclaimed !== undefined };
  }
}

/**
 * Reattaches the next worker of the host to an agent that may have outlived its supervisor, until the run is to end before its
 * agent does. `undefined` when no worker has tried.
 */
export async function reattachAgent(
  { attemptId, timings }: AgentRunInput,
  hostId: string | null,
  run: RunMessages,
): Promise<Reattached | undefined> {
  if (hostId === null || run.isCutShort) {
    return undefined;
  }
  run.view.log('Its worker was lost; the next one looks for the agent.');
  const scope = new CancellationScope();
  void condition(() => run.isCutShort).then(() => end(run, scope));
  try {
    return await scope.run(() => reattachOn(hostId, timings).reattach({ attemptId }));
  } catch (error) {
    log.warn('agent reattach refused by host', { attemptId, hostId, error });
    return undefined;
  }
}

/**
 * Cancels what runs the agent, and signals its supervisor at once: the cancellation alone reaches the worker with its next
 * heartbeat, while a caller waits.
 */
async function end(run: RunMessages, scope: CancellationScope): Promise<void> {
  const { attemptId } = run;
  scope.cancel();
  if (!patched('end-agent-at-once')) {
    return;
  }
  try {
    const queue = await supervision.supervisorQueue({ attemptId });
    if (queue !== null) {
      run.openActivities += 1;
      await endingOn(queue)
        .endAgent({ attemptId })
        .finally(() => (run.openActivities -= 1));
    }
  } catch (error) {
    log.debug('agent end deferred to the worker heartbeat', { attemptId, error });
  }
}

/**
 * Ends what a lost worker left behind, or waits for a worker that only Temporal has lost; a stop does not wait, nor does a run
 * whose time is up. `undefined` when the host stays unavailable.
 */
export async function reclaim(
  { attemptId, timings }: AgentRunInput,
  run: RunMessages,
  { hostId, force = false }: { hostId: string | null; force?: boolean },
): Promise<{ claimed: boolean } | undefined> {
  const host = reclaimOn(hostId, timings);
  const scope = new CancellationScope();
  void condition(() => run.stop !== undefined).then(() => scope.cancel());
  try {
    if (run.stop === undefined && !force) {
      return await scope.run(() => host.reclaim({ attemptId, force: false }));
    }
  } catch (error) {
    if (!isCancellation(error)) {
      return undefined;
    }
    run.openActivities += 1;
  }
  try {
    return await host.reclaim({ attemptId, force: true });
  } catch {
    return undefined;
  }
}
