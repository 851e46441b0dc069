import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../../contracts/refusal';
import type { ReleaseReason } from '../../../contracts/runs/admission';
import type { AgentCommandType } from '../../../contracts/runs/command';
import type { CompletionResult } from '../../../contracts/runs/completion';
import type { RunEventInput, RunEventKind } from '../../../contracts/runs/event';
import type { PhaseTransition } from '../../../contracts/runs/phase';
import type { Task } from '../../../contracts/tasks/task';
import { usableCommands } from '../../../domain/commands';
import {
  compileCompletion,
  exhaustedClaim,
  judgementOf,
  lostClaim,
  phaseSpansOf,
  stoppedClaim,
  type TerminalClaim,
} from '../../../domain/completion';
import { terminalKey } from '../../../domain/events/seal';
import { needsReview } from '../../../domain/review/requirement';
import { MessageProofError, type MessageProofs } from '../../../platform/crypto/message-proof';
import { compact } from '../../../platform/json/compact';
import type { Log } from '../../../platform/log/log';
import { allDone } from '../../../platform/operations/all-done';
import { cut } from '../../../platform/text/cut';
import type { Board } from '../../../stores/board-files/board';
import type { TraceStore } from '../../../stores/governance/trace-store';
import type { Stores } from '../../../stores/open-stores';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { releaseTask } from '../../../stores/runs/cancel-recovery';
import type { PhaseStore } from '../../../stores/runs/phase-store';
import type { CheckpointStore } from '../../../stores/runs/workspaces/checkpoint-store';
import type { AuditStore } from '../../../stores/system/audit-store';
import type { Ending } from '../../../workflows/agent-run/ending';
import type { RunEnd } from '../../../workflows/agent-run/messages';
import { stoppedByMessage } from '../../../workflows/message-proofs';
import { temporalOperator } from '../../../workflows/operator';
import { type Retry, type RetryPlan, scheduleRecovery } from '../../recovery/activities';
import { sourceOf } from '../../shared/event-source';
import { releaseLease } from '../../worktree/lease';
import type { AdmissionControl } from '../admission/dependencies';
import { requireReservation } from '../admission/hold';
import { endRefusedLaunch, recordOnRecovery } from '../admission/refused-launch';
import { notDispatched, overtime } from './made-claims';
import { runEnded, runStarted } from './run-audit';
import { countEnd } from './run-metrics';
import { reportEnd, reportStart } from './run-telemetry';
import { recordSentBack } from './sent-back';
import { applyCompletion, applyStart } from './task';

export interface CompletionDependencies extends Pick<
  Stores,
  | 'attempts'
  | 'activeRuns'
  | 'recoveries'
  | 'claims'
  | 'worktrees'
  | 'telemetry'
  | 'events'
  | 'feed'
  | 'reviews'
  | 'budgets'
> {
  board: Pick<Board, 'get' | 'update'>;
  admission: AdmissionControl;
  /** What an attempt was allowed when. */
  phases: Pick<PhaseStore, 'get'>;
  checkpoints: Pick<CheckpointStore, 'list'>;
  audit: Pick<AuditStore, 'record'>;
  traces: Pick<TraceStore, 'record'>;
  /** Cancels the attempt's requests for approval. */
  withdrawApprovals(attemptId: string): Promise<void>;
  messageProofs: Pick<MessageProofs, 'verify'>;
  /** Has the goal of a run read its end. @returns whether it has one */
  notifyGoal(attemptId: string): Promise<boolean>;
  /** Continues a run by the watcher, where the settings let it. */
  planContinuation(record: AttemptRecord, completion: CompletionResult): Promise<void>;
  log: Log;
  now(): Date;
}

export interface FinishInput extends RetryPlan {
  attemptId: string;
  ending: Ending;
}

export interface Finished {
  status: CompletionResult['status'];
  endedAt: string;
  retry?: Retry;
}

const endKinds: Record<CompletionResult['status'], RunEventKind> = {
  success: 'run.completed',
  blocked: 'run.completed',
  partial: 'run.completed',
  failed: 'run.failed',
  interrupted: 'run.interrupted',
};

interface Release {
  reason: ReleaseReason;
  evidence: string;
  nextAttemptId?: string | undefined;
}

export function createCompletionActivities(deps: CompletionDependencies) {
  return {
    /**
     * Shows the start on the task; for a remote agent this is also the dispatch. A failure is logged, not fatal.
     *
     * @returns the commands that the run accepts while it is active
     */
    async announceStart({ attemptId }: { attemptId: string }): Promise<AgentCommandType[] | undefined> {
      const record = await deps.attempts.get(attemptId);
      if (!record || record.completion) {
        return undefined;
      }
      if (record.provider === 'remote-callback' && record.state === 'prepared') {
        await dispatchRemote(record);
      }
      await allDone([
        deps.audit.record(runStarted(record)),
        applyStart(deps, record).then(() => recordSentBack(deps, record)),
        mustGet(attemptId).then((started) => reportStart(deps, started)),
      ]);
      return usableCommands(record.providerRuntimeManifest);
    },

    /**
     * Records the end of an attempt: the completion, the retry if one is due, the task, the release of everything it had
     * reserved, and last the event and the state for watchers, who thus find everything else done. The first completion stands;
     * each step detects what an earlier try did.
     */
    async finish(input: FinishInput): Promise<Finished> {
      const record = await mustGet(input.attemptId);
      const completion = await settle(record, await claimFor(record, input.ending));
      const retry = await scheduleRecovery(
        { ...deps, requests: deps.admission.requests },
        { record, completion, ending: input.ending },
        { ...input, maxRetries: record.maxRetries },
      );
      await allDone([apply(record, completion), deps.audit.record(runEnded(record, completion))]);
      await release(record, {
        reason: releaseReason(completion),
        evidence: completion.summary,
        nextAttemptId: retry?.attemptId,
      });
      const follows = retry !== undefined && !(await isCancelled(record));
      await publishEnd(record, completion);
      countEnd(record, completion);
      if (!(await deps.notifyGoal(record._id)) && retry === undefined) {
        await deps.planContinuation(record, completion);
      }
      return { status: completion.status, endedAt: completion.completedAt, ...(follows ? { retry } : {}) };
    },

    /** How the attempt has ended, once everything about that is done. */
    async endOf({ attemptId }: { attemptId: string }): Promise<RunEnd | null> {
      const { state, completion, endedAt } = await mustGet(attemptId);
      if (state !== 'ended' && state !== 'refused') {
        return null;
      }
      const status = completion?.status ?? state;
      return { attemptId, status, endedAt: completion?.completedAt ?? endedAt ?? deps.now().toISOString() };
    },

    /**
     * Ends a launch that was refused after its admission. A caller who received `queued` gets a failed completion; otherwise
     * the refusal is the response and nothing has run.
     */
    async abandon({ attemptId, launch }: { attemptId: string; launch: Refusal }): Promise<{ endedAt: string }> {
      const record = await mustGet(attemptId);
      const endedAt = deps.now().toISOString();
      if (record.launch?.status === 'queued') {
        const completion = await settle(record, notDispatched(launch.message));
        await recordOnRecovery(deps, record, { launch, at: endedAt });
        await allDone([apply(record, completion), deps.audit.record(runEnded(record, completion))]);
        await release(record, { reason: 'start-failed', evidence: launch.message });
        await publishEnd(record, completion);
      } else {
        // First: a worker that prepares it late finds that it is over, and takes nothing of what is released here.
        await deps.attempts.abandon(attemptId, endedAt);
        await release(record, { reason: 'start-failed', evidence: launch.message });
        await endRefusedLaunch(deps, record, { launch, at: endedAt });
      }
      await deps.notifyGoal(attemptId);
      return { endedAt };
    },
  };

  /** A cancel of the recovery that came before the task was handed over had nothing to release. */
  async function isCancelled({ _id, taskId }: AttemptRecord): Promise<boolean> {
    const recovery = await deps.recoveries.get(_id);
    if (recovery?.state !== 'cancelled') {
      return false;
    }
    if (recovery.nextAttemptId !== undefined) {
      await releaseTask(deps, taskId, recovery.nextAttemptId);
    }
    return true;
  }

  async function mustGet(attemptId: string): Promise<AttemptRecord> {
    const record = await deps.attempts.get(attemptId);
    if (!record) {
      throw new Error(`The attempt ${attemptId} is missing from the stores.`);
    }
    return record;
  }

  /**
   * Counts the run and puts its end on the task. Once the task is no longer the attempt's, an earlier try has done both,
   * and the next attempt may be at work already.
   */
  async function apply(record: AttemptRecord, completion: CompletionResult): Promise<void> {
    if ((await deps.activeRuns.holder(record.taskId)) !== record._id) {
      return;
    }
    const actualCost = await reportEnd(deps, await mustGet(record._id), completion);
    const { agents } = await deps.admission.settings.current();
    const isReviewed = (task: Task): boolean => needsReview(task, agents);
    await applyCompletion(deps, record, { completion, actualCost, isReviewed });
    await recordSentBack(deps, record);
  }

  /** Stores the completion unless one is stored, which then stands. */
  async function settle(record: AttemptRecord, claim: TerminalClaim): Promise<CompletionResult> {
    if (record.completion) {
      return record.completion;
    }
    const phases = await deps.phases.get(record._id);
    const judgement = judgementOf(record, phases);
    const seen = await withSpans(record, claim, phases?.history ?? []);
    const at = deps.now().toISOString();
    const completion = compileCompletion(record._id, {
      envelope: record.taskEnvelope,
      claim: seen,
      completedAt: at,
      judgement,
    });
    const stored = (await deps.attempts.complete(record._id, completion)) ?? (await mustGet(record._id));
    return stored.completion ?? completion;
  }

  /** The claim with what was done in which phase, where the phase changed. */
  async function withSpans(
    record: AttemptRecord,
    claim: TerminalClaim,
    history: readonly Pick<PhaseTransition, 'at'>[],
  ): Promise<TerminalClaim> {
    const baseline = record.taskEnvelope?.workspace?.baseline.headSha;
    if (history.length === 0 || baseline === undefined) {
      return claim;
    }
    const looks = await deps.checkpoints.list(record._id, 0, maxLooks);
    const phaseSpans = phaseSpansOf(claim.harness, { history, looks, baselineSha: baseline });
    return phaseSpans ? { ...claim, harness: { ...claim.harness, phaseSpans } } : claim;
  }

  async function claimFor(record: AttemptRecord, ending: Ending): Promise<TerminalClaim> {
    const ended = record.claim?.harness.ended;
    // Whether the run's timer or its host was first, both apply the same limit.
    if (ended === 'timeout') {
      return overtime(record, record.runLaunchManifest?.resources?.timeoutMs);
    }
    if (ending.by === 'timeout' && (ended ?? 'stopped') === 'stopped') {
      return overtime(record, ending.afterMs);
    }
    if (record.claim) {
      return record.claim;
    }
    if (record.exhausted && ending.by !== 'callback') {
      return exhaustedClaim(record, record.exhausted);
    }
    switch (ending.by) {
      case 'callback': {
        const claim = await deps.claims.get(record._id, ending.claimDigest);
        if (!claim) {
          throw new Error(`The claim ${ending.claimDigest} of ${record._id} is missing from the stores.`);
        }
        return { ...claim, harness: { ...claim.harness, ...record.observed } };
      }
      case 'stop':
        return stoppedClaim(record, provenStopper(record._id, ending));
      case 'lost':
        return lostClaim(record, ending);
      case 'agent':
      case 'timeout':
        throw new Error(`The agent of ${record._id} ended without a recorded claim.`);
    }
  }

  /** Who stopped the run; without a proof an operator, whatever name the message claims. */
  function provenStopper(attemptId: string, { actor, proof }: Extract<Ending, { by: 'stop' }>): string {
    try {
      deps.messageProofs.verify(stoppedByMessage(attemptId, actor), proof);
      return actor;
    } catch (error) {
      if (!(error instanceof MessageProofError)) {
        throw error;
      }
      return temporalOperator;
    }
  }

  async function dispatchRemote(record: AttemptRecord): Promise<void> {
    if (!(await mayDispatch(record._id))) {
      return;
    }
    if (!(await deps.attempts.dispatch(record._id))) {
      return;
    }
    await deps.attempts.start(record._id, { startedAt: deps.now().toISOString() });
    await deps.events.append(sourceOf(record), [
      { kind: 'run.started', payload: { agent: record.agent, provider: record.provider }, dedupeKey: 'started' },
    ]);
    await deps.feed.append({ type: 'agent.status' });
  }

  /** Capacity that lapsed is waited for; in a cancelled tree nothing is dispatched, and a stop is on its way. */
  async function mayDispatch(attemptId: string): Promise<boolean> {
    try {
      await requireReservation(deps.admission, attemptId);
      return true;
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) {
        throw error;
      }
      if (error.type === 'EXECUTION_TREE_CANCELLED') {
        return false;
      }
      throw new Error(`${attemptId} waits for capacity.`, { cause: error });
    }
  }

  async function publishEnd(record: AttemptRecord, completion: CompletionResult): Promise<void> {
    await deps.events.append(sourceOf(record), [terminalEvent(completion)]);
    await deps.attempts.end(record._id);
    await deps.feed.append({ type: 'agent.status' });
  }

  /** Releases the queue entry, the slot, the worktree and the task; the last two go to the retry if there is one. */
  async function release(record: AttemptRecord, { reason, evidence, nextAttemptId }: Release): Promise<void> {
    const { queue, reservations } = deps.admission;
    const now = deps.now();
    const endEntry = async (): Promise<void> => {
      const cancelled = (await queue.get(record._id))?.cancel;
      const reason = cancelled?.reason ?? evidence;
      await queue.end(record._id, { code: 'QUEUE_CANCELLED', reason, at: now.toISOString() });
    };
    await allDone([deps.withdrawApprovals(record._id), endEntry(), deps.budgets.release(record._id)]);
    await reservations.release(record._id, { reason, evidence: cut(evidence, longestEvidence), now });
    await releaseLease(deps, { taskId: record.taskId, attemptId: record._id, nextAttemptId });
    if (nextAttemptId === undefined) {
      await deps.activeRuns.release(record.taskId, record._id);
    } else {
      await deps.activeRuns.handOver(record.taskId, record._id, nextAttemptId);
    }
    if (!(await queue.isEmpty())) {
      await deps.admission.wakeScheduler();
    }
  }
}

export type CompletionActivities = ReturnType<typeof createCompletionActivities>;

/** The most checkpoints of a run. */
const maxLooks = 1_000;

/** Longest evidence of a release, in characters. */
const longestEvidence = 500;

/** Why the capacity of a run that has ended is released. */
function releaseReason({ status, harness, terminalSource }: CompletionResult): ReleaseReason {
  if (harness.ended === 'not-dispatched') {
    return terminalSource === 'operator-interruption' ? 'cancelled' : 'start-failed';
  }
  if (status === 'failed' || status === 'interrupted') {
    return status;
  }
  return 'completed';
}

const terminalEvent = (completion: CompletionResult): RunEventInput => ({
  kind: endKinds[completion.status],
  receivedAt: completion.completedAt,
  payload: {
    status: completion.status,
    summary: cut(completion.summary, 2_000),
    ...compact({ error: completion.error === undefined ? undefined : cut(completion.error, 2_000) }),
    completionDigest: completion.digest,
    ...compact({ headSha: completion.harness.headSha, preservedRef: completion.harness.preservedRef }),
  },
  dedupeKey: terminalKey,
});
