import { ApplicationFailure } from '@temporalio/common';
import { processIdentity } from '../contracts/attempt';
import type { HarnessEvidence } from '../contracts/completion';
import type { TaskEnvelopeTransport } from '../contracts/run-contract';
import type { RunEventInput } from '../contracts/run-event';
import type { Log } from '../platform/log/log';
import type { AgentOutcome, AgentProvider, LiveAgent } from '../providers/agents/provider';
import type { ProviderRegistry } from '../providers/agents/registry';
import type { Git } from '../providers/git/git';
import { renderRecorded } from '../runs/contract';
import { startedAgent } from '../runs/workspace/trust';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { FeedStore } from '../stores/feed-store';
import type { OutputArtifactStore } from '../stores/output-artifact-store';
import type { RunEventStore } from '../stores/run-event-store';
import type { AgentDecider } from './agent-approvals';
import { requireReservation, type HoldDependencies } from './admission-control/hold';
import { checkpointRun, type CheckpointDependencies } from './checkpoints';
import { goesOnWith } from './launch-snapshot';
import { claimOf } from './claim';
import { withHeartbeat } from './heartbeat';
import type { LiveAgents } from './live-agents';
import { observeWorktree, type WorktreeObservationDependencies } from './observe-worktree';
import { keepCaptured } from './output-artifacts';
import { sourceOf } from './source';
import { orphaned, supervised, supervisorOf, whileSupervised, type SupervisionDependencies } from './supervision';
import { watchRun, type WatchdogDependencies } from './watchdog';

export interface DispatchDependencies
  extends SupervisionDependencies, WatchdogDependencies, CheckpointDependencies, WorktreeObservationDependencies {
  admission: HoldDependencies;
  attempts: AttemptStore;
  events: RunEventStore;
  feed: FeedStore;
  git: Git;
  providers: ProviderRegistry;
  /** The agents of this process, for what is said to them. */
  live: LiveAgents;
  /** Asks people what the agent of an attempt wants leave for. */
  decider(record: AttemptRecord): AgentDecider;
  outputArtifacts: OutputArtifactStore;
  /** Directory for the documents agents are given. */
  transportDir: string;
  limits: { runTimeoutMs: number; outputLimitBytes: number; stopGraceMs: number };
  log: Log;
}

export function createDispatchActivities(deps: DispatchDependencies) {
  return {
    /**
     * Runs the agent of a prepared attempt and records what it claims. Never done twice: moving the attempt to
     * `dispatched` succeeds once, and what the agent claims is stored before this returns.
     */
    async dispatch({ attemptId }: { attemptId: string }): Promise<void> {
      await requireReservation(deps.admission, attemptId);
      const record = await deps.attempts.dispatch(attemptId, supervisorOf(deps));
      if (!record)
        throw ApplicationFailure.nonRetryable(`${attemptId} is not waiting for dispatch.`, 'ALREADY_DISPATCHED');
      const { workspace } = required(record.taskEnvelope, attemptId);
      if (!workspace) throw ApplicationFailure.nonRetryable(`${attemptId} has no worktree.`, 'WORKSPACE_MISSING');

      await withHeartbeat(() =>
        supervised(deps, attemptId, async (stop) => {
          const outcome = await speakable(record._id, () => run(record, workspace.path, stop));
          // A worker that shuts down takes its agents with it: the run is lost to it, and retried elsewhere.
          if (outcome.ended === 'stopped' && deps.stopping.aborted) {
            throw ApplicationFailure.nonRetryable('The worker shut down.', 'WORKER_SHUTDOWN');
          }
          // Whoever takes the run up says how it has ended.
          if (outcome.ended === 'stopped' && stop.reason === orphaned) {
            throw ApplicationFailure.nonRetryable('The run is gone.', 'RUN_GONE');
          }
          await deps.attempts.claim(attemptId, claimOf(outcome, await seen(record, outcome)));
        }),
      );
    },

    /**
     * Brings an attempt to its end whose activity was lost. A worker of this host that still watches over the agent is
     * waited for, unless `force`d. Otherwise the agent's processes are ended by identity, what the attempt left in the
     * worktree is kept under `refs/board/attempts/<attemptId>`, and the worktree is put back to the attempt's baseline.
     * When the agent had ended before and its claim is recorded, that stands and nothing is touched.
     */
    async reclaim({ attemptId, force }: { attemptId: string; force: boolean }): Promise<{ claimed: boolean }> {
      return withHeartbeat(async (signal) => {
        const lost = await deps.attempts.get(attemptId);
        if (!lost) throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
        const record = force || lost.reclaimed ? lost : await whileSupervised(deps, lost, signal);
        if (record.claim || !(await deps.attempts.reclaim(attemptId, deps.now().toISOString())))
          return { claimed: true };
        await cleanUp(record);
        return { claimed: false };
      });
    },
  };

  async function run(record: AttemptRecord, worktreePath: string, signal: AbortSignal): Promise<AgentOutcome> {
    const watch = watchRun(deps, record);
    const checkpoints = checkpointRun(deps, record, worktreePath);
    const running = providerOf(record).run(
      {
        attemptId: record._id,
        taskId: record.taskId,
        agent: startedAgent(record.agentConfig, record.runLaunchManifest?.workspaceTrust),
        worktreePath,
        transport: transportOf(record),
        ...goesOnWith(record),
        transportDir: deps.transportDir,
        stopGraceMs: deps.limits.stopGraceMs,
        timeoutMs: deps.limits.runTimeoutMs,
        outputLimitBytes: deps.limits.outputLimitBytes,
      },
      {
        started: (process, agent) => started(record, process, agent),
        append: async (events) => {
          const source = sourceOf(record);
          await keepCaptured(deps, source, events);
          await checkpoints.heard(events);
          const sequences = await deps.events.append(source, events);
          await watch.appended(events, sequences);
          await checkpoints.appended(sequences);
        },
        decide: deps.decider(record),
      },
      signal,
    );
    try {
      return await running;
    } finally {
      await checkpoints.ended();
      await watch.ended();
    }
  }

  async function cleanUp(record: AttemptRecord): Promise<void> {
    const attemptId = record._id;
    const identity =
      record.process && record.process.hostId === deps.hostId ? processIdentity.parse(record.process) : undefined;
    const ended = await providerOf(record).endOrphans(attemptId, identity, deps.limits.stopGraceMs);
    if (ended.length > 0) deps.log.warn({ attemptId, ended }, 'ended the processes of a lost run');

    const workspace = record.taskEnvelope?.workspace;
    if (!workspace || !record.baseline) return;
    const { path: worktreePath } = workspace;
    const preserved = await deps.git.preserveAttempt({ worktreePath, attemptId, baseline: record.baseline });
    if (preserved) await deps.attempts.preserve(attemptId, preserved.ref);
    await deps.git.restoreBaseline({ worktreePath, baseline: record.baseline });
  }

  async function started(
    record: AttemptRecord,
    process: { pid: number; startTime: string; bootId: string },
    agent: LiveAgent,
  ): Promise<void> {
    const startedAt = deps.now().toISOString();
    await deps.attempts.start(record._id, { ...process, hostId: deps.hostId }, startedAt);
    const event: RunEventInput = {
      kind: 'run.started',
      payload: { agent: record.agent, provider: record.provider, hostId: deps.hostId, pid: process.pid },
      dedupeKey: 'started',
    };
    await deps.events.append(sourceOf(record), [event, ...conversationEvents(record)]);
    await deps.feed.append({ type: 'agent.status' });
    deps.live.add(record._id, agent);
  }

  /** Commands reach the agent while it runs; its end is not recorded before what was said to it is. */
  async function speakable<T>(attemptId: string, work: () => Promise<T>): Promise<T> {
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
      durationMs: outcome.durationMs,
    };
    if (outcome.ended === 'spawn-failed') return evidence;
    return { ...evidence, ...(await observeWorktree(deps, record, outcome.result ?? {})) };
  }
}

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
