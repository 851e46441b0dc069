import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { processIdentity } from '../../../contracts/runs/attempt';
import type { HarnessEvidence } from '../../../contracts/runs/completion';
import { exhaustedClaim, redactClaim } from '../../../domain/completion';
import { compact } from '../../../platform/json/compact';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import {
  type AgentDispatch,
  type AgentOutcome,
  type AgentProvider,
  detachReason,
  type OrphanedAgent,
  type ReattachRefusal,
} from '../../../providers/agents/provider';
import { type Fence, verifyFence } from '../../../providers/git/fence';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { recordIdentity, recordRemade } from '../../worktree/replaced';
import { requireReservation } from '../admission/hold';
import { keepWork } from '../completion/keep-work';
import {
  isOfWorktree,
  isTooMuch,
  isWorkLost,
  observeWorktree,
  reportNotStored,
  reportReplaced,
} from '../completion/observe-worktree';
import { removeAttemptFiles } from './attempt-files';
import { claimOf } from './claim';
import type { DispatchDependencies } from './dependencies';
import { runGone, workerShutDown } from './failures';
import { createObservedAgents } from './observed-agents';
import { notReattachable, type Reattached, recordedOf, recoveredEvent, spoolDirOf } from './reattach';
import { agentLocationOf, required } from './recorded-contract';
import { spaceFor } from './space-for';
import { startedEvents } from './started-events';
import { orphaned, supervised, supervisorOf, whileSupervised } from './supervision';
import { endToolBridge, toolBridgeOf } from './tool-bridge';

export type { DispatchDependencies } from './dependencies';

/** How often git is tried in the worktree of a run that has to end now, and in one that has too much for it. */
const maxTries = 3;

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
      if (!record) {
        throw ApplicationFailure.nonRetryable(`${attemptId} is not waiting for dispatch.`, 'ALREADY_DISPATCHED');
      }
      const { workspace } = required(record.taskEnvelope, attemptId);
      if (!workspace) {
        throw ApplicationFailure.nonRetryable(`${attemptId} has no worktree.`, 'WORKSPACE_MISSING');
      }

      await withHeartbeat(() =>
        acceptingCommands(attemptId, () =>
          supervised(
            deps,
            { attemptId, outlives: spoolDirOf(record, deps.agentsDir) !== undefined },
            async (stop, awake) => {
              const fence = await takeFence(record, 'run');
              const handle = await handleOf(record);
              revokeOnStop(record, stop);
              const outcome = await withObservers(
                record,
                {
                  path: workspace.path,
                  fence,
                  awake,
                  firstEvents: (started, process) => startedEvents(started, deps.hostId, process),
                },
                (dispatch, sink) => providerOf(record).run({ ...dispatch, ...handle }, sink, stop),
              );
              await recordClaim(record, { outcome, fence }, stop);
            },
          ),
        ),
      );
    },

    /**
     * Reattaches to the agent of an attempt whose worker was lost, if it outlives its worker, is that agent, and is on this
     * host; one that has ended meanwhile is brought to its end. May be repeated: a worker that is lost doing so is followed by
     * the next one.
     *
     * @returns `refused` with the reason why it cannot be reattached: it is reclaimed then
     */
    async reattach({ attemptId }: { attemptId: string }): Promise<Reattached> {
      return withHeartbeat(async (signal) => {
        const record = await whileSupervised(deps, await mustGet(attemptId), signal);
        if (record.claim) {
          await removeSpool(record);
          return { claimed: true };
        }
        const refusal = notReattachable(record, deps);
        if (refusal) {
          return refuseReattach(record, refusal);
        }
        const resumed = await deps.attempts.takeOver(attemptId, record.revision, supervisorOf(deps));
        if (!resumed) {
          throw new Error(`${attemptId} changed during its adoption.`);
        }
        return acceptingCommands(attemptId, () =>
          supervised(deps, { attemptId, outlives: true }, (stop, awake) => resumeAgent(resumed, stop, awake)),
        );
      });
    },

    /**
     * Brings an attempt to its end whose activity was lost. A worker of this host that still supervises the agent is waited
     * for, unless `force`d. Otherwise the agent's processes are ended by identity, what the attempt left in the worktree is
     * stored under `refs/board/attempts/<attemptId>`, and the worktree is restored to the attempt's baseline. When the agent
     * had ended before and its claim is recorded, that stands and nothing is touched. One that is `force`d waits for git for a
     * few tries and no longer, and so does one that has left too much for git.
     */
    async reclaim({ attemptId, force }: { attemptId: string; force: boolean }): Promise<{ claimed: boolean }> {
      return withHeartbeat(async (signal) => {
        const lost = await mustGet(attemptId);
        const record = force || lost.reclaimed ? lost : await whileSupervised(deps, lost, signal);
        if (record.claim || !(await deps.attempts.reclaim(attemptId, deps.now().toISOString()))) {
          await removeSpool(record);
          return { claimed: true };
        }
        const isRepeated = Context.current().info.attempt >= maxTries;
        await cleanUp(record, { isGivenUp: force ? isOfWorktree : isTooMuch, isRepeated });
        return { claimed: false };
      });
    },
  };

  async function resumeAgent(
    record: AttemptRecord,
    stop: AbortSignal,
    awake: () => Promise<void>,
  ): Promise<Reattached> {
    const { _id: attemptId, process, taskEnvelope, startedAt } = record;
    const provider = providerOf(record);
    const { workspace } = required(taskEnvelope, attemptId);
    if (!workspace || !provider.reattach) {
      return refuseReattach(record, 'adapter-reattach-unsupported');
    }
    revokeOnStop(record, stop);
    const ranMs = startedAt === undefined ? 0 : deps.now().getTime() - Date.parse(startedAt);
    const orphan: OrphanedAgent = {
      process: processIdentity.parse(process),
      recorded: await recordedOf(deps.events, attemptId),
      ranMs,
    };
    const reattach = provider.reattach.bind(provider);
    const fence = await takeFence(record, 'run');
    const toolBridge = await toolBridgeOf(deps, record, ranMs);
    const outcome = await withObservers(
      record,
      { path: workspace.path, fence, awake, firstEvents: () => [recoveredEvent(record)] },
      (dispatch, sink) => reattach({ dispatch: { ...dispatch, ...compact({ toolBridge }) }, orphan }, sink, stop),
    );
    if ('refused' in outcome) {
      return refuseReattach(record, outcome.refused);
    }
    await recordClaim(record, { outcome, fence }, stop);
    return { claimed: true };
  }

  function refuseReattach({ _id: attemptId }: AttemptRecord, reason: ReattachRefusal): Reattached {
    deps.log.warn({ attemptId, reason }, 'agent reattach refused');
    return { claimed: false, reason };
  }

  /** Records the agent's claim; an agent that was ended by this service has none. */
  async function recordClaim(
    record: AttemptRecord,
    { outcome, fence }: { outcome: AgentOutcome; fence: Fence },
    stop: AbortSignal,
  ): Promise<void> {
    if (outcome.ended === 'stopped') {
      // A worker that shuts down takes its agents with it: the run is lost to it, and retried elsewhere.
      if (deps.stopping.aborted || stop.reason === detachReason) {
        throw workerShutDown();
      }
      // The worker that adopts the run records how it has ended.
      if (stop.reason === orphaned) {
        throw runGone();
      }
    }
    const reported = claimOf(outcome, await withSpace(() => harnessEvidence(record, outcome)));
    const { exhausted } = await mustGet(record._id);
    const isOver = exhausted !== undefined && outcome.ended === 'stopped';
    const seen = isOver ? redactClaim(exhaustedClaim({ claim: reported }, exhausted)) : reported;
    const kept = await withSpace(() => keepWork(deps, record, { claim: seen, git: deps.git.under(fence) }));
    await recordRemade(deps, record, fence);
    const claim = { ...seen, harness: { ...seen.harness, ...redactClaim(kept) } };
    const isRecorded = await withSpace(() => deps.attempts.claim(record._id, claim, deps.self));
    // A run that another worker has adopted is left to it.
    if (!isRecorded && !(await mustGet(record._id)).claim) {
      throw runGone();
    }
    await removeSpool(record);
  }

  /** The credentials of the agent; they are only in the files that the agent is given. */
  async function handleOf(record: AttemptRecord): Promise<Pick<AgentDispatch, 'handle' | 'toolBridge'>> {
    const toolBridge = await toolBridgeOf(deps, record, 0);
    return {
      ...(record.agentConfig.launchesChildren === true ? { handle: await deps.handles.issue(record._id) } : {}),
      ...compact({ toolBridge }),
    };
  }

  /** An agent that is being stopped launches and calls nothing more, in the time that it is given to end. */
  function revokeOnStop({ _id }: AttemptRecord, stop: AbortSignal): void {
    const revoke = (): void => {
      if (stop.reason === detachReason) {
        return;
      }
      Promise.all([deps.handles.revoke(_id), endToolBridge(deps.toolBridge, _id)]).catch((error: unknown) =>
        deps.log.warn({ err: error, attemptId: _id }, 'attempt handle revocation deferred'),
      );
    };
    if (stop.aborted) {
      revoke();
    } else {
      stop.addEventListener('abort', revoke, { once: true });
    }
  }

  /** Removes the files that an agent was given, those stored for the next worker, and its credential. */
  async function removeSpool({ _id: attemptId }: AttemptRecord): Promise<void> {
    await withSpace(() => deps.handles.revoke(attemptId));
    await withSpace(() => endToolBridge(deps.toolBridge, attemptId));
    await removeAttemptFiles(deps, attemptId);
  }

  async function cleanUp(
    record: AttemptRecord,
    { isGivenUp, isRepeated }: { isGivenUp: (error: unknown) => error is Error; isRepeated: boolean },
  ): Promise<void> {
    const attemptId = record._id;
    const identity =
      record.process && record.process.hostId === deps.hostId ? processIdentity.parse(record.process) : undefined;
    const ended = await providerOf(record).endOrphans(attemptId, identity, deps.limits.stopGraceMs);
    if (ended.length > 0) {
      deps.log.warn({ attemptId, ended }, 'lost run processes killed');
    }
    await removeSpool(record);

    const workspace = record.taskEnvelope?.workspace;
    if (!workspace || !record.baseline) {
      return;
    }
    const { path: worktreePath } = workspace;
    const fence = await takeFence(record, 'reclaim');
    const location = agentLocationOf(record);
    const git = deps.git.under(fence);
    try {
      if (location && deps.agentAccess) {
        // The next agent may have been given it while this worker was asleep.
        await verifyFence(fence);
        await deps.agentAccess.take(location);
      }
      const preserved = await git.preserveAttempt({ worktreePath, attemptId, baseline: record.baseline });
      if (preserved) {
        await deps.attempts.preserve(attemptId, preserved.ref);
      }
      const { identity } = await git.restoreBaseline({ worktreePath, baseline: record.baseline });
      await recordIdentity(deps, record.taskId, { identity, fence });
    } catch (error) {
      if (isWorkLost(error)) {
        const { workLost } = await reportReplaced(deps, record, error);
        await deps.attempts.loseWork(attemptId, workLost);
        return;
      }
      if (!isRepeated || !isGivenUp(error)) {
        throw error;
      }
      const { workLost } = await reportNotStored(deps, record, error);
      await deps.attempts.loseWork(attemptId, workLost);
    }
  }

  /** The token for the worktree of an attempt. @throws ApplicationFailure `RUN_GONE` when the worktree is not its any more */
  async function takeFence({ taskId, _id: attemptId }: AttemptRecord, stage: 'run' | 'reclaim'): Promise<Fence> {
    const fence = await deps.fences.take(taskId, { attemptId, stage });
    if (!fence) {
      throw runGone();
    }
    return fence;
  }

  async function mustGet(attemptId: string): Promise<AttemptRecord> {
    const record = await deps.attempts.get(attemptId);
    if (!record) {
      throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
    }
    return record;
  }

  /** Commands that arrive from now on wait for the agent that is being started; none waits for one that is not. */
  async function acceptingCommands<T>(attemptId: string, work: () => Promise<T>): Promise<T> {
    deps.live.expect(attemptId);
    try {
      return await work();
    } finally {
      await deps.live.remove(attemptId);
    }
  }

  function providerOf({ agentConfig, _id }: AttemptRecord): AgentProvider {
    const provider = deps.providers.find(agentConfig.provider);
    if (!provider) {
      throw ApplicationFailure.nonRetryable(`No provider of this worker runs the agent of ${_id}.`, 'PROVIDER_MISSING');
    }
    return provider;
  }

  /** What the harness itself can show for the end of the agent. */
  async function harnessEvidence(record: AttemptRecord, outcome: AgentOutcome): Promise<HarnessEvidence> {
    const evidence: HarnessEvidence = {
      ended: outcome.ended,
      exitCode: outcome.exitCode,
      signal: outcome.signal,
      outputBytes: outcome.output.bytes,
      ...(outcome.output.refusedLines > 0 ? { refusedLines: outcome.output.refusedLines } : {}),
      durationMs: outcome.durationMs,
      ...compact({ sandbox: outcome.sandbox }),
    };
    if (outcome.ended === 'spawn-failed') {
      return evidence;
    }
    return { ...evidence, ...(await observeWorktree(deps, record, outcome.result ?? {})) };
  }
}

export type DispatchActivities = ReturnType<typeof createDispatchActivities>;
