import type { AgentRunInput } from '../workflows/agent-run/messages';
import { localWorkspace } from '../contracts/common';
import type { LaunchOutcome, LaunchRefusal } from '../contracts/launch';
import { planLaunch, type LaunchPlan } from '../runs/launch-plan';
import { refusal } from '../runs/refusal';
import type { ActiveRunStore } from '../stores/active-run-store';
import type { AdmissionStore } from '../stores/admission-store';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { HostStore } from '../stores/host-store';
import { loadLaunchSubject, type LaunchSources } from '../stores/launch-subject';
import type { RecoveryStore } from '../stores/recovery-store';
import { traceRoute, tracedRefusal } from '../stores/route-trace';
import type { RunEventStore } from '../stores/run-event-store';
import type { TraceStore } from '../stores/trace-store';
import type { WorktreeStore } from '../stores/worktree-store';
import { plannedFields } from './launch-snapshot';
import { sourceOf } from './source';

export interface AdmissionDependencies extends LaunchSources {
  traces: Pick<TraceStore, 'record'>;
  hosts: HostStore;
  attempts: AttemptStore;
  activeRuns: ActiveRunStore;
  admission: AdmissionStore;
  recoveries: RecoveryStore;
  worktrees: Pick<WorktreeStore, 'get'>;
  events: RunEventStore;
  /** Wakes the scheduler of the queue. */
  wakeScheduler(): Promise<void>;
  now(): Date;
}

export interface Admitted {
  provider: string;
  agent: string;
  phase: string;
  hostId: string | null;
  decidedAt: string;
  /** Set when the launch is decided already: refused, or queued for capacity. */
  launch?: LaunchOutcome;
}

/** How long a caller of a queued launch may wait before it asks again, in milliseconds. */
const retryAfterMs = 5_000;

export function createAdmissionActivities(deps: AdmissionDependencies) {
  return {
    /**
     * Decides one launch: takes the task, reserves capacity in one atomic step, or queues, or refuses. Every step
     * finds what an earlier try of it left, so that repeating it decides nothing twice.
     */
    async admit(input: AgentRunInput): Promise<Admitted> {
      const decidedAt = deps.now().toISOString();
      const existing = await deps.attempts.get(input.attemptId);
      const record = existing ?? (await recordAttempt(input, decidedAt));
      if ('status' in record) return { provider: '', agent: '', phase: '', hostId: null, decidedAt, launch: record };
      const { provider, agent, phase, hostId } = record;
      const admitted = { provider, agent, phase, hostId, decidedAt };
      if (record.launch) return { ...admitted, launch: record.launch };

      const holder = await deps.activeRuns.take(record.taskId, record._id);
      if (holder !== record._id) {
        const launch = refusal('RUN_ACTIVE', 409, `The task has a running attempt, ${holder}; stop it first.`, {
          taskId: record.taskId,
          attemptId: holder,
        });
        await deps.attempts.refuse(record._id, launch, decidedAt);
        return { ...admitted, launch };
      }
      if (input.retry) await deps.recoveries.launched(input.retry.parentAttemptId, decidedAt);
      if (await deps.admission.reserve(record._id, decidedAt)) return admitted;
      return { ...admitted, launch: await enqueue(record, decidedAt) };
    },
  };

  /** Runs the readiness gate against what is true now and stores the attempt, or returns the refusal. */
  async function recordAttempt(input: AgentRunInput, createdAt: string): Promise<AttemptRecord | LaunchRefusal> {
    const subject = await loadLaunchSubject(deps, input.taskId, input.request);
    if (!subject) return refusal('NOT_FOUND', 404, `No task has the id ${input.taskId}.`, { taskId: input.taskId });
    const plan = planLaunch(subject, { maxRetries: input.maxRetries });
    if ('status' in plan) return tracedRefusal(deps.traces, subject, plan, input.attemptId);
    await traceRoute(deps.traces, subject, input.attemptId);

    const { repository } = plan;
    const hostId = repository ? (repository.hostId ?? (await hostFor(input.taskId))) : null;
    if (hostId === undefined) {
      return refusal('HOST_UNAVAILABLE', 409, 'No host with a worker is live; start one with npm run start:worker.');
    }
    return deps.attempts.create(newRecord(input, createdAt, plan, hostId));
  }

  /** A task stays on the host that has its worktree. */
  async function hostFor(taskId: string): Promise<string | undefined> {
    const worktree = await deps.worktrees.get(taskId);
    return worktree && worktree.state !== 'removed' ? worktree.hostId : deps.hosts.anyLive();
  }

  async function enqueue(record: AttemptRecord, enqueuedAt: string): Promise<LaunchOutcome> {
    const launch: LaunchOutcome = {
      taskId: record.taskId,
      attemptId: record._id,
      queueId: record._id,
      agent: record.agent,
      status: 'queued',
      enqueuedAt,
      retryAfterMs,
      limitingScopes: [{ scope: 'global', scopeId: localWorkspace }],
    };
    await deps.admission.enqueue({ _id: record._id, taskId: record.taskId, state: 'queued', priority: 1, enqueuedAt });
    await deps.events.append(sourceOf(record), [
      { kind: 'run.queued', payload: { limit: deps.admission.limits.runs }, dedupeKey: 'queued' },
    ]);
    await deps.attempts.answer(record._id, launch, 'queued');
    await deps.wakeScheduler();
    return launch;
  }
}

export type AdmissionActivities = ReturnType<typeof createAdmissionActivities>;

function newRecord(input: AgentRunInput, createdAt: string, plan: LaunchPlan, hostId: string | null): AttemptRecord {
  const parentAttemptId = input.retry?.parentAttemptId ?? input.request.parentAttemptId;
  return {
    ...plannedFields(plan),
    _id: input.attemptId,
    schemaVersion: 'attempt/v1',
    taskId: input.taskId,
    rootAttemptId: input.retry?.rootAttemptId ?? input.attemptId,
    ...(parentAttemptId === undefined ? {} : { parentAttemptId }),
    retryNumber: input.retry?.retryNumber ?? 0,
    state: 'admitted',
    revision: 1,
    hostId,
    createdAt,
    createdBy: input.actor,
  };
}
