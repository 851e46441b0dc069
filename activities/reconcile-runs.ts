import type { RunRecovery } from '../contracts/recovery';
import type { Log } from '../platform/log/log';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { RecoveryStore } from '../stores/recovery-store';
import type { AgentRunInput, FoundRun, RunTimings } from '../workflows/agent-run/messages';
import type { RecoveryInput } from '../workflows/recovery/messages';
import type { AdmissionControl } from './admission-control/dependencies';
import { withHeartbeat } from '../platform/temporal/heartbeat';
import type { RecoveryCancel } from './recovery';
import { launchAfter, launchOf } from './stored-launch';
import { isAtWorkElsewhere } from './watch-remote';

/** What Temporal knows of a workflow: it goes on, somebody ended it (or it ended), or it was never heard of. */
export type WorkflowWhereabouts = 'open' | 'closed' | 'missing';

/** The workflows of runs, as far as they are looked for and taken up. */
export interface RunWorkflows {
  ofRun(attemptId: string): Promise<WorkflowWhereabouts>;
  ofRecovery(attemptId: string): Promise<WorkflowWhereabouts>;
  /** Starts the workflow of an attempt unless it goes on, and has it look at its place in the queue. */
  takeUpRun(input: AgentRunInput): Promise<void>;
  takeUpRecovery(input: RecoveryInput): Promise<void>;
}

export interface ReconcileRunsDependencies {
  attempts: Pick<AttemptStore, 'get' | 'active'>;
  recoveries: Pick<RecoveryStore, 'get' | 'unfinished'>;
  admission: Pick<AdmissionControl, 'requests' | 'queue' | 'wakeScheduler'>;
  workflows: RunWorkflows;
  cancelRecovery: RecoveryCancel;
  /** Watches these attempts, whose agents are at work elsewhere. */
  watchRemote(attempts: readonly AttemptRecord[]): Promise<void>;
  timings: RunTimings;
  log: Log;
  now(): Date;
}

export interface Reconciled {
  looked: number;
  runs: number;
  recoveries: number;
}

/** @param pageSize how many records are read at a time */
export function createReconcileActivities(deps: ReconcileRunsDependencies, pageSize?: number) {
  return {
    /**
     * Compares what the stores say goes on with the workflows that go on. An attempt that was lost is taken up by a
     * workflow under the same id, of which there is one at a time; a recovery likewise.
     */
    reconcileRuns: (): Promise<Reconciled> =>
      withHeartbeat(async () => {
        const found = { looked: 0, runs: 0, recoveries: 0 };
        const remote: AttemptRecord[] = [];
        for await (const attempt of deps.attempts.active(pageSize)) {
          found.looked += 1;
          if (isAtWorkElsewhere(attempt)) remote.push(attempt);
          if (await runTakenUp(attempt._id)) found.runs += 1;
        }
        for await (const recovery of deps.recoveries.unfinished(pageSize)) {
          found.looked += 1;
          if (await recoveryTakenUp(recovery)) found.recoveries += 1;
        }
        await deps.watchRemote(remote);
        // Whatever hands out capacity may have been lost with everything else.
        if (!(await deps.admission.queue.isEmpty())) await deps.admission.wakeScheduler();
        return found;
      }),
  };

  async function runTakenUp(attemptId: string): Promise<boolean> {
    const whereabouts = await deps.workflows.ofRun(attemptId);
    if (whereabouts === 'open') return false;
    // Its workflow may have ended it while we looked.
    const record = await deps.attempts.get(attemptId);
    if (!record || record.state === 'ended' || record.state === 'refused') return false;
    const found = foundRun(record, whereabouts);
    await deps.workflows.takeUpRun({ ...(await launchOf(deps.admission, record)), timings: deps.timings, found });
    deps.log.warn({ attemptId, state: record.state, whereabouts, next: found.next }, 'a run without a workflow');
    return true;
  }

  async function recoveryTakenUp({ attemptId, nextAttemptId }: RunRecovery): Promise<boolean> {
    if (nextAttemptId === undefined || (await deps.attempts.get(nextAttemptId))) return false;
    const whereabouts = await deps.workflows.ofRecovery(attemptId);
    if (whereabouts === 'open' || (await deps.workflows.ofRun(nextAttemptId)) === 'open') return false;
    const [parent, recovery] = await Promise.all([deps.attempts.get(attemptId), deps.recoveries.get(attemptId)]);
    // The run that failed has yet to end, and starts what follows by itself.
    if (parent?.state !== 'ended' || !recovery || !['scheduled', 'launching'].includes(recovery.state)) return false;
    if (await deps.attempts.get(nextAttemptId)) return false;
    if (whereabouts === 'closed') {
      // Somebody ended it, in the place of cancelling it.
      await deps.cancelRecovery(attemptId, 'system:reconcile');
    } else {
      const backoffMs = Math.max(0, Date.parse(recovery.notBefore) - deps.now().getTime());
      await deps.workflows.takeUpRecovery({
        attemptId,
        next: { ...(await launchAfter(deps.admission, parent, recovery, nextAttemptId)), timings: deps.timings },
        backoffMs,
      });
    }
    deps.log.warn({ attemptId, nextAttemptId, whereabouts }, 'a recovery without a workflow');
    return true;
  }
}

export type ReconcileActivities = ReturnType<typeof createReconcileActivities>;

/**
 * How an attempt is gone on with. What somebody terminated ends; so does what an agent of ours was at work on. When only
 * Temporal's record of it was lost, a launch that had not come to its agent goes on, and an agent elsewhere may still report
 * (specification 2, States of a run).
 */
export function foundRun(record: AttemptRecord, whereabouts: 'closed' | 'missing'): FoundRun {
  const dispatched = record.state === 'dispatched' || record.state === 'running';
  const remote = record.provider === 'remote-callback';
  const next =
    whereabouts === 'closed' || record.completion ? 'end' : !dispatched ? 'launch' : remote ? 'callback' : 'end';
  return {
    next,
    terminated: whereabouts === 'closed',
    // What an attempt left is not touched once its end is recorded: the next one may be at work there.
    dispatched: dispatched && !record.completion,
    // What somebody terminated is to end.
    ...(whereabouts === 'missing' && record.agentConfig.reattach === true ? { reattach: true } : {}),
    hostId: record.hostId,
    agent: record.agent,
    provider: record.provider,
    phase: record.phase,
    ...(record.launch ? { launch: record.launch } : {}),
  };
}
