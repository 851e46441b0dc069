import { ApplicationFailure } from '@temporalio/common';
import { processIdentity } from '../contracts/attempt';
import type { HarnessEvidence } from '../contracts/completion';
import {
  leaveRunning,
  type AgentDispatch,
  type AgentOutcome,
  type AgentProvider,
  type FoundAgent,
  type ReattachRefusal,
} from '../providers/agents/provider';
import { verifyFence, type Fence } from '../providers/git/fence';
import type { AttemptRecord } from '../stores/attempt-store';
import { removeAttemptFiles } from './attempt-files';
import { requireReservation } from './admission-control/hold';
import { claimOf } from './claim';
import { withHeartbeat } from '../platform/temporal/heartbeat';
import { isWorkLost, observeWorktree, reportReplaced } from './observe-worktree';
import { notReattachable, recordedOf, recoveredEvent, spoolDirOf, type Reattached } from './reattach';
import { orphaned, supervised, supervisorOf, whileSupervised } from './supervision';
import { recordIdentity } from './worktree/replaced';
import type { DispatchDependencies } from './dispatch-dependencies';
import { runGone, workerShutDown } from './dispatch-failures';
import { createObservedAgents } from './observed-agents';
import { placeOf, required } from './recorded-contract';
import { startedEvents } from './started-events';
import { spaceFor } from './space-for';

export type { DispatchDependencies } from './dispatch-dependencies';

export function createDispatchActivities(deps: DispatchDependencies) {
  const { withObservers } = createObservedAgents(deps);

  const withSpace = spaceFor(deps);
  return {
    /**
     * Runs the agent of a prepared attempt and records what it claims. Never done twice: moving the attempt to
     * `dispatched` succeeds once, and what the agent claims is stored before this returns.
     */
    async dispatch({ attemptId }: { attemptId: string }): Promise<void> {
      await requireReservation(deps.admission, attemptId);
      const record = await withSpace(() => deps.attempts.dispatch(attemptId, supervisorOf(deps)));
      if (!record)
        throw ApplicationFailure.nonRetryable(`${attemptId} is not waiting for dispatch.`, 'ALREADY_DISPATCHED');
      const { workspace } = required(record.taskEnvelope, attemptId);
      if (!workspace) throw ApplicationFailure.nonRetryable(`${attemptId} has no worktree.`, 'WORKSPACE_MISSING');

      await withHeartbeat(() =>
        speakable(attemptId, () =>
          supervised(
            deps,
            { attemptId, outlives: spoolDirOf(record, deps.agentsDir) !== undefined },
            async (stop, awake) => {
              const fence = await takeFence(record, 'run');
              const handle = await handleOf(record);
              revokeOnStop(record, stop);
              const outcome = await withObservers(
                record,
                { path: workspace.path, fence, awake },
                (started, process) => startedEvents(started, deps.hostId, process),
                (dispatch, sink) => providerOf(record).run({ ...dispatch, ...handle }, sink, stop),
              );
              await settle(record, outcome, stop);
            },
          ),
        ),
      );
    },

    /**
     * Goes on with the agent of an attempt whose worker was lost, if it outlives its worker, is that agent, and is on
     * this host; one that has ended meanwhile is brought to its end. May be repeated: whoever is lost doing so is
     * followed by the next one.
     *
     * @returns `refused` says why it cannot be gone on with: it is reclaimed then
     */
    async reattach({ attemptId }: { attemptId: string }): Promise<Reattached> {
      return withHeartbeat(async (signal) => {
        const record = await whileSupervised(deps, await mustGet(attemptId), signal);
        if (record.claim) {
          await forget(record);
          return { claimed: true };
        }
        const refusal = notReattachable(record, deps);
        if (refusal) return refused(record, refusal);
        const taken = await deps.attempts.takeOver(attemptId, record.revision, supervisorOf(deps));
        if (!taken) throw new Error(`${attemptId} has changed while it was taken over.`);
        return speakable(attemptId, () =>
          supervised(deps, { attemptId, outlives: true }, (stop, awake) => goOnWith(taken, stop, awake)),
        );
      });
    },

    /**
     * Brings an attempt to its end whose activity was lost. A worker of this host that still watches over the agent is
     * waited for, unless `force`d. Otherwise the agent's processes are ended by identity, what the attempt left in the
     * worktree is kept under `refs/board/attempts/<attemptId>`, and the worktree is put back to the attempt's baseline.
     * When the agent had ended before and its claim is recorded, that stands and nothing is touched.
     */
    async reclaim({ attemptId, force }: { attemptId: string; force: boolean }): Promise<{ claimed: boolean }> {
      return withHeartbeat(async (signal) => {
        const lost = await mustGet(attemptId);
        const record = force || lost.reclaimed ? lost : await whileSupervised(deps, lost, signal);
        if (record.claim || !(await deps.attempts.reclaim(attemptId, deps.now().toISOString()))) {
          await forget(record);
          return { claimed: true };
        }
        await cleanUp(record);
        return { claimed: false };
      });
    },
  };

  async function goOnWith(record: AttemptRecord, stop: AbortSignal, awake: () => Promise<void>): Promise<Reattached> {
    const { _id: attemptId, process, taskEnvelope, startedAt } = record;
    const provider = providerOf(record);
    const { workspace } = required(taskEnvelope, attemptId);
    if (!workspace || !provider.reattach) return refused(record, 'adapter-reattach-unsupported');
    revokeOnStop(record, stop);
    const found: FoundAgent = {
      process: processIdentity.parse(process),
      recorded: await recordedOf(deps.events, attemptId),
      ranMs: startedAt === undefined ? 0 : deps.now().getTime() - Date.parse(startedAt),
    };
    const reattach = provider.reattach.bind(provider);
    const fence = await takeFence(record, 'run');
    const outcome = await withObservers(
      record,
      { path: workspace.path, fence, awake },
      () => [recoveredEvent(record)],
      (dispatch, sink) => reattach(dispatch, found, sink, stop),
    );
    if ('refused' in outcome) return refused(record, outcome.refused);
    await settle(record, outcome, stop);
    return { claimed: true };
  }

  function refused({ _id: attemptId }: AttemptRecord, reason: ReattachRefusal): Reattached {
    deps.log.warn({ attemptId, reason }, 'the agent of a lost worker is not gone on with');
    return { claimed: false, reason };
  }

  /** Records what the agent claims; one that was ended for a reason of ours claims nothing. */
  async function settle(record: AttemptRecord, outcome: AgentOutcome, stop: AbortSignal): Promise<void> {
    if (outcome.ended === 'stopped') {
      // A worker that shuts down takes its agents with it: the run is lost to it, and retried elsewhere.
      if (deps.stopping.aborted || stop.reason === leaveRunning) throw workerShutDown();
      // Whoever takes the run up says how it has ended.
      if (stop.reason === orphaned) throw runGone();
    }
    const claim = claimOf(outcome, await withSpace(() => seen(record, outcome)));
    const isRecorded = await withSpace(() => deps.attempts.claim(record._id, claim, deps.self));
    // What another worker goes on with is left to it.
    if (!isRecorded && !(await mustGet(record._id)).claim) throw runGone();
    await forget(record);
  }

  /** What an agent that launches children proves itself with; it is nowhere but in the file that the agent is given. */
  async function handleOf({ _id, agentConfig }: AttemptRecord): Promise<Pick<AgentDispatch, 'handle'>> {
    return agentConfig.launchesChildren === true ? { handle: await deps.handles.issue(_id) } : {};
  }

  /** An agent that is being stopped launches nothing more, in the time that it is given to end. */
  function revokeOnStop({ _id }: AttemptRecord, stop: AbortSignal): void {
    const revoke = (): void => {
      if (stop.reason === leaveRunning) return;
      deps.handles
        .revoke(_id)
        .catch((error: unknown) => deps.log.warn({ err: error, attemptId: _id }, 'attempt handle not revoked at once'));
    };
    if (stop.aborted) revoke();
    else stop.addEventListener('abort', revoke, { once: true });
  }

  /** Removes what an agent was given, what was stored of it for the next worker, and its credential. */
  async function forget({ _id: attemptId }: AttemptRecord): Promise<void> {
    await withSpace(() => deps.handles.revoke(attemptId));
    await removeAttemptFiles(deps, attemptId);
  }

  async function cleanUp(record: AttemptRecord): Promise<void> {
    const attemptId = record._id;
    const identity =
      record.process && record.process.hostId === deps.hostId ? processIdentity.parse(record.process) : undefined;
    const ended = await providerOf(record).endOrphans(attemptId, identity, deps.limits.stopGraceMs);
    if (ended.length > 0) deps.log.warn({ attemptId, ended }, 'ended the processes of a lost run');
    await forget(record);

    const workspace = record.taskEnvelope?.workspace;
    if (!workspace || !record.baseline) return;
    const { path: worktreePath } = workspace;
    const fence = await takeFence(record, 'reclaim');
    const place = placeOf(record);
    const git = deps.git.under(fence);
    try {
      if (place && deps.agentAccess) {
        // The next agent may have been given it while this worker was asleep.
        await verifyFence(fence);
        await deps.agentAccess.take(place);
      }
      const preserved = await git.preserveAttempt({ worktreePath, attemptId, baseline: record.baseline });
      if (preserved) await deps.attempts.preserve(attemptId, preserved.ref);
      const { identity } = await git.restoreBaseline({ worktreePath, baseline: record.baseline });
      await recordIdentity(deps, record.taskId, identity, fence);
    } catch (error) {
      if (!isWorkLost(error)) throw error;
      const { workLost } = await reportReplaced(deps, record, error);
      await deps.attempts.loseWork(attemptId, workLost);
    }
  }

  /** The token for the worktree of an attempt. @throws ApplicationFailure `RUN_GONE` when the worktree is not its any more */
  async function takeFence({ taskId, _id: attemptId }: AttemptRecord, stage: 'run' | 'reclaim'): Promise<Fence> {
    const fence = await deps.fences.take(taskId, { attemptId, stage });
    if (!fence) throw runGone();
    return fence;
  }

  async function mustGet(attemptId: string): Promise<AttemptRecord> {
    const record = await deps.attempts.get(attemptId);
    if (!record) throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
    return record;
  }

  /** Commands that come from now on wait for the agent that is being started; none is left waiting for one that is not. */
  function speakable<T>(attemptId: string, work: () => Promise<T>): Promise<T> {
    deps.live.expect(attemptId);
    return work().finally(() => deps.live.remove(attemptId));
  }

  function providerOf({ agentConfig, _id }: AttemptRecord): AgentProvider {
    const provider = deps.providers.find(agentConfig.provider);
    if (!provider) {
      throw ApplicationFailure.nonRetryable(`No provider here runs the agent of ${_id}.`, 'PROVIDER_MISSING');
    }
    return provider;
  }

  /** What the harness itself can show for the end of the agent. */
  async function seen(record: AttemptRecord, outcome: AgentOutcome): Promise<HarnessEvidence> {
    const evidence: HarnessEvidence = {
      ended: outcome.ended,
      exitCode: outcome.exitCode,
      signal: outcome.signal,
      outputBytes: outcome.output.bytes,
      ...(outcome.output.refusedLines > 0 ? { refusedLines: outcome.output.refusedLines } : {}),
      durationMs: outcome.durationMs,
    };
    if (outcome.ended === 'spawn-failed') return evidence;
    return { ...evidence, ...(await observeWorktree(deps, record, outcome.result ?? {})) };
  }
}

export type DispatchActivities = ReturnType<typeof createDispatchActivities>;
