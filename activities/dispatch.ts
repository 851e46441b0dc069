import { ApplicationFailure } from '@temporalio/common';
import { processIdentity } from '../contracts/attempt';
import type { HarnessEvidence } from '../contracts/completion';
import type { TaskEnvelopeTransport } from '../contracts/run-contract';
import type { RunEventInput } from '../contracts/run-event';
import type { Log } from '../platform/log/log';
import type { ProcessIdentity } from '../platform/processes/identity';
import {
  AgentLeftError,
  AttemptMovedOnError,
  leaveRunning,
  type AgentDispatch,
  type AgentOutcome,
  type AgentProvider,
  type AgentSink,
  type FoundAgent,
  type LiveAgent,
  type ReattachRefusal,
} from '../providers/agents/provider';
import type { ProviderRegistry } from '../providers/agents/registry';
import type { AgentAccess, AgentPlace } from '../providers/agents/user/agent-access';
import { verifyFence, type Fence } from '../providers/git/fence';
import type { Git } from '../providers/git/git';
import { renderRecorded } from '../runs/contract';
import type { ToolRules } from '../runs/tools/rules';
import { rulesOfRun } from '../runs/tools/rules-of-run';
import { startedAgent } from '../runs/workspace/trust';
import type { AttemptHandleStore } from '../stores/attempt-handle-store';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { FeedStore } from '../stores/feed-store';
import type { OutputArtifactStore } from '../stores/output-artifact-store';
import type { PhaseStore } from '../stores/phase-store';
import type { RunEventStore } from '../stores/run-event-store';
import type { AgentDecider } from './agent-approvals';
import { removeAttemptFiles, type AttemptDirectories } from './attempt-files';
import { requireReservation, type HoldDependencies } from './admission-control/hold';
import { checkpointRun, type CheckpointDependencies } from './checkpoints';
import { goesOnWith } from './launch-snapshot';
import { claimOf } from './claim';
import { withHeartbeat } from '../platform/temporal/heartbeat';
import type { LiveAgents } from './live-agents';
import { isWorkLost, observeWorktree, reportReplaced, type WorktreeObservationDependencies } from './observe-worktree';
import { keepCaptured } from './output-artifacts';
import { notReattachable, recordedOf, recoveredEvent, spoolDirOf, type Reattached } from './reattach';
import { sourceOf } from './source';
import { orphaned, supervised, supervisorOf, whileSupervised, type SupervisionDependencies } from './supervision';
import type { WorktreeFences } from './worktree/fences';
import { recordIdentity } from './worktree/replaced';
import { untilSpace } from './until-space';
import { watchRun, type WatchdogDependencies } from './watchdog';

export interface DispatchDependencies
  extends
    SupervisionDependencies,
    WatchdogDependencies,
    CheckpointDependencies,
    WorktreeObservationDependencies,
    AttemptDirectories {
  admission: HoldDependencies;
  attempts: AttemptStore;
  events: RunEventStore;
  feed: FeedStore;
  git: Git;
  fences: WorktreeFences;
  providers: ProviderRegistry;
  /** The agents of this process, for what is said to them. */
  live: LiveAgents;
  handles: AttemptHandleStore;
  /** Asks people what the agent of an attempt wants leave for. */
  decider(record: AttemptRecord): AgentDecider;
  outputArtifacts: OutputArtifactStore;
  /** What an attempt may do now. */
  phases: Pick<PhaseStore, 'endEmergency'>;
  /** Hands worktrees to the user agents run as; absent when that is this process's. */
  agentAccess?: AgentAccess | undefined;
  limits: { runTimeoutMs: number; outputLimitBytes: number; stopGraceMs: number };
  log: Log;
}

export function createDispatchActivities(deps: DispatchDependencies) {
  const ending = AbortSignal.any([deps.stopping, deps.leaving]);
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
              const outcome = await watched(
                record,
                { path: workspace.path, fence, awake },
                startedEvent,
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

  /** Of what cannot be said again later: see `untilSpace`. A worker that leaves its agents to the next one leaves them waiting. */
  function withSpace<T>(work: () => Promise<T>): Promise<T> {
    return untilSpace(work, { log: deps.log, ending });
  }

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
    const outcome = await watched(
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

  /** Has an agent run, or go on, with everything that hears of what it says. */
  async function watched<T>(
    record: AttemptRecord,
    { path: worktreePath, fence, awake }: { path: string; fence: Fence; awake: () => Promise<void> },
    firstEvents: (record: AttemptRecord, process: ProcessIdentity) => RunEventInput[],
    run: (dispatch: AgentDispatch, sink: AgentSink) => Promise<T>,
  ): Promise<T> {
    const watch = watchRun(deps, record);
    const checkpoints = checkpointRun({ ...deps, git: deps.git.under(fence) }, record, worktreePath);
    const spoolDir = spoolDirOf(record, deps.agentsDir);
    const isCurrent = async () => (await deps.attempts.isSupervisedBy(record._id, deps.self)) && (await fence.holds());
    const dispatch: AgentDispatch = {
      attemptId: record._id,
      taskId: record.taskId,
      agent: startedAgent(record.agentConfig, record.runLaunchManifest?.workspaceTrust),
      worktreePath,
      worktreeIdentity: record.baseline?.identity,
      transport: transportOf(record),
      rules: () => rulesNow(record, worktreePath),
      ...goesOnWith(record),
      transportDir: deps.transportDir,
      ...limitsOf(record),
      ...(spoolDir === undefined ? {} : { spoolDir }),
      isCurrent,
    };
    const sink: AgentSink = {
      started: (process, agent) =>
        started(record, process, lookingFirst(agent, checkpoints), firstEvents(record, process)),
      append: async (events) => {
        await awake();
        const source = sourceOf(record);
        await withSpace(() => keepCaptured(deps, source, events));
        await checkpoints.heard(events);
        const sequences = await withSpace(() => deps.events.append(source, events));
        await watch.appended(events, sequences);
        checkpoints.appended(sequences);
      },
      decide: deps.decider(record),
    };
    try {
      return await inItsHands(record, isCurrent, () => run(dispatch, sink));
    } catch (error) {
      if (error instanceof AttemptMovedOnError) throw runGone();
      throw error instanceof AgentLeftError ? workerShutDown() : error;
    } finally {
      // The end is not recorded before what was said to the agent is.
      await deps.live.remove(record._id);
      await checkpoints.ended();
      await watch.ended();
    }
  }

  /** The worktree belongs to the user of the agent while that works in it, and only then. */
  async function inItsHands<T>(
    record: AttemptRecord,
    isCurrent: () => Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T> {
    const place = placeOf(record);
    if (!deps.agentAccess || !place) return work();
    if (!(await isCurrent())) throw new AttemptMovedOnError(record._id);
    try {
      await deps.agentAccess.give(place);
      return await work();
    } finally {
      // Another worker has taken it back already, and may have given it to the next agent.
      if (await isCurrent()) await deps.agentAccess.take(place);
    }
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

  async function started(
    record: AttemptRecord,
    process: ProcessIdentity,
    agent: LiveAgent,
    events: RunEventInput[],
  ): Promise<void> {
    const startedAt = deps.now().toISOString();
    // It changes nothing of an attempt that runs already, and refuses one that moved on while this worker was asleep: its
    // agent is ended before it was told anything.
    const isStarted = await withSpace(() =>
      deps.attempts.start(record._id, { ...process, hostId: deps.hostId }, startedAt, deps.self),
    );
    if (!isStarted && !(await deps.attempts.isSupervisedBy(record._id, deps.self)))
      throw new AttemptMovedOnError(record._id);
    await withSpace(() => deps.events.append(sourceOf(record), events));
    await withSpace(() => deps.feed.append({ type: 'agent.status' }));
    deps.live.add(record._id, agent);
  }

  function startedEvent(record: AttemptRecord, { pid }: ProcessIdentity): RunEventInput[] {
    const { agent, provider } = record;
    const payload = { agent, provider, hostId: deps.hostId, pid };
    return [{ kind: 'run.started', payload, dedupeKey: 'started' }, ...conversationEvents(record)];
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

  /** An emergency whose time is over has ended, whoever writes that down. */
  async function rulesNow(record: AttemptRecord, worktreePath: string): Promise<ToolRules> {
    const phases = await deps.phases.endEmergency(record._id, { now: deps.now().toISOString() });
    return rulesOfRun(record, phases, worktreePath);
  }

  /** The limits of its contract: another worker, or one that was started again with others, keeps to them. */
  function limitsOf({ runLaunchManifest }: AttemptRecord) {
    const { stopGraceMs, runTimeoutMs: timeoutMs, outputLimitBytes } = deps.limits;
    return { stopGraceMs, timeoutMs, outputLimitBytes, ...runLaunchManifest?.resources };
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

/** Where an agent works, as it was recorded before it did. */
function placeOf({ taskEnvelope, baseline }: AttemptRecord): AgentPlace | undefined {
  const worktreePath = taskEnvelope?.workspace?.path;
  return worktreePath === undefined || !baseline ? undefined : { worktreePath, gitDir: baseline.gitDir };
}

const runGone = () => ApplicationFailure.nonRetryable('The run is gone.', 'RUN_GONE');

/** What the worktree shows when an agent is told of another phase was done under the one before. */
const lookingFirst = (agent: LiveAgent, checkpoints: { now(): Promise<void> }): LiveAgent => ({
  async command(command) {
    if (command.type === 'message') await checkpoints.now();
    return agent.command(command);
  },
});

/** Repeated where that is allowed: the next worker goes on. */
const workerShutDown = () => ApplicationFailure.create({ type: 'WORKER_SHUTDOWN', message: 'The worker shut down.' });

export type DispatchActivities = ReturnType<typeof createDispatchActivities>;

/** The document that was recorded when the launch was prepared. */
function transportOf(record: AttemptRecord): TaskEnvelopeTransport {
  const { _id: attemptId, taskId, taskEnvelope, transport } = record;
  const rendered = renderRecorded(
    { attemptId, taskId, envelope: required(taskEnvelope, attemptId), ...goesOnWith(record) },
    required(transport, attemptId),
  );
  if (rendered) return rendered;
  throw ApplicationFailure.nonRetryable(`The contract of ${attemptId} was changed.`, 'CONTRACT_CHANGED');
}

/** An agent of the process protocol opens no session that it could tell of. */
function conversationEvents({ provider, conversation }: AttemptRecord): RunEventInput[] {
  if (provider !== 'process' || !conversation) return [];
  const { edge, sourceAttemptId } = conversation;
  const kinds = {
    resume: 'conversation.resumed',
    'follow-up': 'conversation.followed-up',
    fork: 'conversation.forked',
  } as const;
  return [{ kind: kinds[edge], payload: { sourceAttemptId }, dedupeKey: 'conversation' }];
}

function required<T>(value: T | undefined, attemptId: string): T {
  if (value === undefined) throw ApplicationFailure.nonRetryable(`${attemptId} has no contract.`, 'CONTRACT_MISSING');
  return value;
}
