import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { processIdentity } from '../contracts/attempt';
import type { HarnessEvidence } from '../contracts/completion';
import type { RunEventInput } from '../contracts/run-event';
import type { Log } from '../platform/log/log';
import type { AgentOutcome, AgentProvider } from '../providers/agents/provider';
import type { Git } from '../providers/git/git';
import { renderTransport } from '../runs/contract';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { FeedStore } from '../stores/feed-store';
import type { RunEventStore } from '../stores/run-event-store';
import { claimOf } from './claim';
import { withHeartbeat } from './heartbeat';
import { sourceOf } from './source';

export interface DispatchDependencies {
  attempts: AttemptStore;
  events: RunEventStore;
  feed: FeedStore;
  git: Git;
  provider: AgentProvider;
  hostId: string;
  /** Directory for the documents agents are given. */
  transportDir: string;
  limits: { runTimeoutMs: number; outputLimitBytes: number; stopGraceMs: number };
  log: Log;
  now(): Date;
}

export function createDispatchActivities(deps: DispatchDependencies) {
  return {
    /**
     * Runs the agent of a prepared attempt and records what it claims. Never done twice: moving the attempt to
     * `dispatched` succeeds once, and what the agent claims is stored before this returns.
     */
    async dispatch({ attemptId }: { attemptId: string }): Promise<void> {
      const record = await deps.attempts.dispatch(attemptId);
      if (!record)
        throw ApplicationFailure.nonRetryable(`${attemptId} is not waiting for dispatch.`, 'ALREADY_DISPATCHED');
      const { workspace } = required(record.taskEnvelope, attemptId);
      if (!workspace) throw ApplicationFailure.nonRetryable(`${attemptId} has no worktree.`, 'WORKSPACE_MISSING');

      await withHeartbeat(async (signal) => {
        const outcome = await run(record, workspace.path, signal);
        // A worker that shuts down takes its agents with it: the run is lost to it, and retried elsewhere.
        if (outcome.ended === 'stopped' && Context.current().cancellationDetails?.workerShutdown) {
          throw ApplicationFailure.nonRetryable('The worker shut down.', 'WORKER_SHUTDOWN');
        }
        await deps.attempts.claim(attemptId, claimOf(outcome, await seen(record, outcome)));
      });
    },

    /**
     * Cleans up after a worker that was lost: ends the agent's processes by identity, keeps what the attempt left in
     * the worktree under `refs/board/attempts/<attemptId>`, and puts the worktree back to the attempt's baseline.
     * When the agent had ended before and its claim is recorded, that stands and nothing is touched.
     */
    async reclaim({ attemptId }: { attemptId: string }): Promise<{ claimed: boolean }> {
      const record = await deps.attempts.get(attemptId);
      if (!record) throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
      if (record.claim) return { claimed: true };
      return withHeartbeat(() => cleanUp(record));
    },
  };

  function run(record: AttemptRecord, worktreePath: string, signal: AbortSignal): Promise<AgentOutcome> {
    return deps.provider.run(
      {
        attemptId: record._id,
        taskId: record.taskId,
        agent: record.agentConfig,
        worktreePath,
        transport: renderTransport(required(record.taskEnvelope, record._id)),
        transportDir: deps.transportDir,
        stopGraceMs: deps.limits.stopGraceMs,
        timeoutMs: deps.limits.runTimeoutMs,
        outputLimitBytes: deps.limits.outputLimitBytes,
      },
      {
        started: (process) => started(record, process),
        append: async (events) => {
          await deps.events.append(sourceOf(record), events);
        },
      },
      signal,
    );
  }

  async function cleanUp(record: AttemptRecord): Promise<{ claimed: boolean }> {
    const attemptId = record._id;
    const identity =
      record.process && record.process.hostId === deps.hostId ? processIdentity.parse(record.process) : undefined;
    const ended = await deps.provider.endOrphans(attemptId, identity, deps.limits.stopGraceMs);
    if (ended.length > 0) deps.log.warn({ attemptId, ended }, 'ended the processes of a lost run');

    const workspace = record.taskEnvelope?.workspace;
    const preserved =
      workspace && record.baseline
        ? await deps.git.preserveAttempt({ worktreePath: workspace.path, attemptId, baseline: record.baseline })
        : undefined;
    const reclaimed = await deps.attempts.reclaim(attemptId, {
      at: deps.now().toISOString(),
      ...(preserved ? { preservedRef: preserved.ref } : {}),
    });
    if (!reclaimed) return { claimed: true };
    if (workspace && record.baseline) {
      await deps.git.restoreBaseline({ worktreePath: workspace.path, baseline: record.baseline });
    }
    return { claimed: false };
  }

  async function started(
    record: AttemptRecord,
    process: { pid: number; startTime: string; bootId: string },
  ): Promise<void> {
    const startedAt = deps.now().toISOString();
    await deps.attempts.start(record._id, { ...process, hostId: deps.hostId }, startedAt);
    const event: RunEventInput = {
      kind: 'run.started',
      payload: { agent: record.agent, provider: record.provider, hostId: deps.hostId, pid: process.pid },
      dedupeKey: 'started',
    };
    await deps.events.append(sourceOf(record), [event]);
    await deps.feed.append({ type: 'agent.status' });
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
    const workspace = record.taskEnvelope?.workspace;
    if (!workspace || !record.baseline || outcome.ended === 'spawn-failed') return evidence;
    const changes = await deps.git.collectChanges({ worktreePath: workspace.path, baseline: record.baseline });
    return { ...evidence, ...changes };
  }
}

export type DispatchActivities = ReturnType<typeof createDispatchActivities>;

function required<T>(value: T | undefined, attemptId: string): T {
  if (value === undefined) throw ApplicationFailure.nonRetryable(`${attemptId} has no contract.`, 'CONTRACT_MISSING');
  return value;
}
