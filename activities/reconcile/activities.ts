import type { RunRecovery } from '../../contracts/runs/recovery';
import { compact } from '../../platform/json/compact';
import type { Log } from '../../platform/log/log';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { RecoveryStore } from '../../stores/runs/recovery-store';
import type { AgentRunInput, OrphanedRun, RunTimings } from '../../workflows/agent-run/messages';
import type { RecoveryInput } from '../../workflows/recovery/messages';
import type { AdmissionControl } from '../agent-run/admission/dependencies';
import type { RecoveryCancel } from '../recovery/activities';
import { launchAfter, launchOf } from '../recovery/stored-launch';
import { isAtWorkElsewhere } from './watch-remote';

/** The status of a workflow in Temporal: it runs, it was terminated (or ended), or it never existed. */
export type WorkflowStatus = 'open' | 'closed' | 'missing';

/** The workflows of runs, as far as they are inspected and resumed. */
export interface RunWorkflows {
  ofRun(attemptId: string): Promise<WorkflowStatus>;
  ofRecovery(attemptId: string): Promise<WorkflowStatus>;
  /** Starts the workflow of an attempt unless it runs, and has it read its queue entry. */
  adoptRun(input: AgentRunInput): Promise<void>;
  adoptRecovery(input: RecoveryInput): Promise<void>;
}

export interface ReconcileRunsDependencies {
  attempts: Pick<AttemptStore, 'get' | 'active'>;
  recoveries: Pick<RecoveryStore, 'get' | 'unfinished'>;
  admission: Pick<AdmissionControl, 'requests' | 'queue' | 'wakeScheduler'>;
  workflows: RunWorkflows;
  cancelRecovery: RecoveryCancel;
  /** Reconciles acceptances of results with their workflows. */
  reconcileAcceptances(pageSize?: number): Promise<{ looked: number; changed: number }>;
  /** Requests that a run ends whose budget is used up: who was to request it may have died before. */
  requestStop(attemptId: string, actor: string): Promise<boolean>;
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
  reviews: number;
}

/** @param pageSize how many records are read at a time */
export function createReconcileActivities(deps: ReconcileRunsDependencies, pageSize?: number) {
  return {
    /**
     * Compares the active records in the stores with the open workflows. A lost attempt is adopted by a workflow under the same
     * id, of which there is one at a time; a recovery and an acceptance likewise.
     */
    reconcileRuns: (): Promise<Reconciled> =>
      withHeartbeat(async () => {
        const reconciled = { looked: 0, runs: 0, recoveries: 0, reviews: 0 };
        const remote: AttemptRecord[] = [];
        for await (const attempt of deps.attempts.active(pageSize)) {
          reconciled.looked += 1;
          if (isAtWorkElsewhere(attempt)) {
            remote.push(attempt);
          }
          if (attempt.exhausted && !attempt.claim && !attempt.completion) {
            await deps.requestStop(attempt._id, 'system:budget');
          }
          if (await adoptRun(attempt._id)) {
            reconciled.runs += 1;
          }
        }
        for await (const recovery of deps.recoveries.unfinished(pageSize)) {
          reconciled.looked += 1;
          if (await adoptRecovery(recovery)) {
            reconciled.recoveries += 1;
          }
        }
        await deps.watchRemote(remote);
        // Whatever hands out capacity may have been lost with everything else.
        if (!(await deps.admission.queue.isEmpty())) {
          await deps.admission.wakeScheduler();
        }
        const acceptances = await deps.reconcileAcceptances(pageSize);
        reconciled.looked += acceptances.looked;
        reconciled.reviews += acceptances.changed;
        return reconciled;
      }),
  };

  async function adoptRun(attemptId: string): Promise<boolean> {
    const workflowStatus = await deps.workflows.ofRun(attemptId);
    if (workflowStatus === 'open') {
      return false;
    }
    // Its workflow may have ended it since it was read.
    const record = await deps.attempts.get(attemptId);
    if (!record || record.state === 'ended' || record.state === 'refused') {
      return false;
    }
    const orphan = describeOrphan(record, workflowStatus);
    await deps.workflows.adoptRun({
      ...(await launchOf(deps.admission, record)),
      timings: deps.timings,
      found: orphan,
    });
    deps.log.warn(
      { attemptId, state: record.state, workflowStatus, next: orphan.next },
      'run without workflow detected',
    );
    return true;
  }

  async function adoptRecovery({ attemptId, nextAttemptId }: RunRecovery): Promise<boolean> {
    if (nextAttemptId === undefined || (await deps.attempts.get(nextAttemptId))) {
      return false;
    }
    const workflowStatus = await deps.workflows.ofRecovery(attemptId);
    if (workflowStatus === 'open' || (await deps.workflows.ofRun(nextAttemptId)) === 'open') {
      return false;
    }
    const [parent, recovery] = await Promise.all([deps.attempts.get(attemptId), deps.recoveries.get(attemptId)]);
    // The run that failed has yet to end, and starts what follows by itself.
    if (parent?.state !== 'ended' || !recovery || !['scheduled', 'launching'].includes(recovery.state)) {
      return false;
    }
    if (await deps.attempts.get(nextAttemptId)) {
      return false;
    }
    if (workflowStatus === 'closed') {
      // An operator terminated it, instead of cancelling it.
      await deps.cancelRecovery(attemptId, 'system:reconcile');
    } else {
      const backoffMs = Math.max(0, Date.parse(recovery.notBefore) - deps.now().getTime());
      await deps.workflows.adoptRecovery({
        attemptId,
        next: {
          ...(await launchAfter(deps.admission, parent, { recovery, attemptId: nextAttemptId })),
          timings: deps.timings,
        },
        backoffMs,
      });
    }
    deps.log.warn({ attemptId, nextAttemptId, workflowStatus }, 'recovery without workflow detected');
    return true;
  }
}

export type ReconcileActivities = ReturnType<typeof createReconcileActivities>;

/**
 * How an attempt is resumed. A terminated one ends; so does one whose agent was at work on a host of ours. When only Temporal's
 * record of it was lost, a launch that had not come to its agent continues, and an agent elsewhere may still report
 * (specification 2, States of a run).
 */
export function describeOrphan(record: AttemptRecord, workflowStatus: 'closed' | 'missing'): OrphanedRun {
  const dispatched = record.state === 'dispatched' || record.state === 'running';
  const remote = record.provider === 'remote-callback';
  const next =
    workflowStatus === 'closed' || record.completion ? 'end' : !dispatched ? 'launch' : remote ? 'callback' : 'end';
  return {
    next,
    terminated: workflowStatus === 'closed',
    // What an attempt left is not touched once its end is recorded: the next one may be at work there.
    dispatched: dispatched && !record.completion,
    // A terminated run is to end.
    ...(workflowStatus === 'missing' && record.agentConfig.reattach === true ? { reattach: true } : {}),
    hostId: record.hostId,
    agent: record.agent,
    provider: record.provider,
    phase: record.phase,
    ...compact({ launch: record.launch }),
  };
}
