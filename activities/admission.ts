import { ApplicationFailure } from '@temporalio/common';
import { messageUnproven } from '../platform/crypto/message-proof-shape';
import type { ProofVerifier } from '../platform/temporal/proof-verifier';
import type { AgentRunInput } from '../workflows/agent-run/messages';
import { launchMessage } from '../workflows/message-proofs';
import type { AgentConfig } from '../contracts/agent-config';
import type { LaunchOutcome, LaunchRefusal } from '../contracts/launch';
import type { Task } from '../contracts/task';
import { planLaunch, type LaunchPlan } from '../runs/launch-plan';
import { refusal } from '../runs/refusal';
import type { ActiveRunStore } from '../stores/active-run-store';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { AuditStore } from '../stores/audit-store';
import type { ConversationStore } from '../stores/conversation-store';
import type { HostStore } from '../stores/host-store';
import { parentProblem } from '../stores/launch-parent';
import { loadLaunchSubject, type LaunchSources } from '../stores/launch-subject';
import type { RecoveryStore } from '../stores/recovery-store';
import { traceRefusal, traceRoute } from '../stores/route-trace';
import type { RunEventStore } from '../stores/run-event-store';
import type { TraceStore } from '../stores/trace-store';
import type { WorktreeStore } from '../stores/worktree-store';
import { confirmDispatch, type Turn } from './admission-control/confirm';
import { decideCapacity } from './admission-control/decide';
import type { AdmissionControl } from './admission-control/dependencies';
import { requestOf } from './admission-control/request';
import { takeTask } from './admission-control/run-active';
import { watcherProblem } from './admission-control/watcher';
import { plannedFields } from './launch-snapshot';
import { endRefusedLaunch, endUnplannedRetry } from './refused-launch';
import { storedLaunch, type StoredLaunch } from './stored-launch';
import { sourceOf } from './source';

export interface AdmissionDependencies extends LaunchSources {
  traces: Pick<TraceStore, 'record'>;
  hosts: HostStore;
  attempts: AttemptStore;
  activeRuns: ActiveRunStore;
  admission: AdmissionControl;
  recoveries: RecoveryStore;
  worktrees: WorktreeStore;
  conversations: Pick<ConversationStore, 'get'>;
  events: RunEventStore;
  audit: Pick<AuditStore, 'record'>;
  proofs: ProofVerifier;
  now(): Date;
}

export interface Admitted {
  provider: string;
  agent: string;
  phase: string;
  hostId: string | null;
  decidedAt: string;
  /** How long the run may take from its start on, in milliseconds: `agents.timeoutMinutes` when it was launched. */
  timeoutMs?: number;
  /** Whether the agent may outlive its worker: then the next one goes on with it. */
  reattach?: boolean;
  /** Set when the launch is decided already: refused, or queued for capacity. */
  launch?: LaunchOutcome;
}

export function createAdmissionActivities(deps: AdmissionDependencies) {
  return {
    /**
     * Decides one launch: takes the task, reserves capacity in one atomic step, or queues, or refuses. Every step
     * finds what an earlier try of it left, so that repeating it decides nothing twice.
     */
    async admit(message: AgentRunInput): Promise<Admitted> {
      const decidedAt = deps.now().toISOString();
      const input = await provenLaunch(message);
      const unrecorded = { provider: '', agent: '', phase: '', hostId: null, decidedAt };
      // An unproven message changes nothing, whatever attempt it names.
      if ('status' in input) return { ...unrecorded, launch: input };
      const record = (await deps.attempts.get(input.attemptId)) ?? (await recordAttempt(input, decidedAt));
      if ('status' in record) {
        await endUnplannedRetry(deps, input, await agentOf(input), record, decidedAt);
        return { ...unrecorded, launch: record };
      }
      const { provider, agent, phase, hostId } = record;
      const timeoutMs = record.timeoutMs ?? (await currentTimeoutMs());
      const reattach = record.agentConfig.reattach === true ? { reattach: true } : {};
      const admitted = { provider, agent, phase, hostId, decidedAt, timeoutMs, ...reattach };
      if (record.launch) return { ...admitted, launch: record.launch };

      const busy = await takeTask(deps, record);
      if (busy) return { ...admitted, launch: await refuse(record, busy, decidedAt) };
      const cancelled = await followsNothing(input, decidedAt);
      if (cancelled) return { ...admitted, launch: await refuse(record, cancelled, decidedAt) };
      const request = await requestOf({ ...deps, ...deps.admission }, input, record, decidedAt);
      if ('status' in request) return { ...admitted, launch: await refuse(record, request, decidedAt) };
      const blocked = await watcherProblem(deps.admission, request);
      if (blocked) return { ...admitted, launch: await refuse(record, blocked, decidedAt) };
      const decided = await decideCapacity(deps.admission, request);
      switch (decided.decision) {
        case 'held':
          return admitted;
        case 'queued':
          return { ...admitted, launch: await answerQueued(record, decided.launch) };
        case 'refused':
          return { ...admitted, launch: await refuse(record, decided.launch, decidedAt) };
      }
    },

    /** Looks once more at everything a queued launch was decided on, now that it has capacity. */
    confirmDispatch: ({ attemptId }: { attemptId: string }): Promise<Turn> => confirmDispatch(deps, attemptId),
  };

  /**
   * What is launched, by the signature of the API or, for what follows an attempt and for one that was found without its
   * workflow, by the stores; the message itself proves nothing.
   */
  async function provenLaunch(message: AgentRunInput): Promise<StoredLaunch | LaunchRefusal> {
    const { proof, ...input } = message;
    const stored =
      proof === undefined ? await storedLaunch({ ...deps, requests: deps.admission.requests }, input) : undefined;
    if (stored) return stored;
    try {
      await deps.proofs.require(launchMessage(input), proof);
      return input;
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || error.type !== messageUnproven) throw error;
      return refusal(messageUnproven, 409, error.message, { attemptId: input.attemptId });
    }
  }

  async function currentTimeoutMs(): Promise<number> {
    const { agents } = await deps.admission.settings.current();
    return agents.timeoutMinutes * 60_000;
  }

  /** Gives back what the launch took, and says why it is refused wherever somebody waits for it. */
  async function refuse(record: AttemptRecord, launch: LaunchRefusal, decidedAt: string): Promise<LaunchRefusal> {
    await endRefusedLaunch(deps, record, launch, decidedAt);
    return launch;
  }

  /** The agent that a launch names, where it is still configured. */
  async function agentOf({ request }: StoredLaunch): Promise<AgentConfig | undefined> {
    const { agents } = await deps.routing.inputs();
    return agents.find(({ type }) => type === request.agent);
  }

  /** The launch waits in the queue: says so, remembers the answer, and has the queue looked at. */
  async function answerQueued(record: AttemptRecord, launch: LaunchOutcome): Promise<LaunchOutcome> {
    const limitingScopes = launch.status === 'queued' ? launch.limitingScopes : [];
    await deps.events.append(sourceOf(record), [
      { kind: 'run.queued', payload: { limitingScopes }, dedupeKey: 'queued' },
    ]);
    await deps.attempts.answer(record._id, launch, 'queued');
    await deps.admission.wakeScheduler();
    return launch;
  }

  /** Says that a recovery was launched, or why it may not be: it was cancelled at the last moment, or refused before. */
  async function followsNothing({ retry }: StoredLaunch, at: string): Promise<LaunchRefusal | undefined> {
    if (!retry) return undefined;
    const { parentAttemptId } = retry;
    const launched = await deps.recoveries.move(parentAttemptId, ['scheduled', 'launching'], { state: 'launched' }, at);
    const recovery = launched ?? (await deps.recoveries.get(parentAttemptId));
    if (recovery?.refusal) return refusal(recovery.refusal.code, 409, recovery.refusal.message);
    if (recovery?.state !== 'cancelled') return undefined;
    return refusal('RECOVERY_CANCELLED', 409, 'The recovery was cancelled.', { attemptId: parentAttemptId });
  }

  /** Runs the readiness gate against what is true now and stores the attempt, or returns the refusal. */
  async function recordAttempt(input: StoredLaunch, createdAt: string): Promise<AttemptRecord | LaunchRefusal> {
    const orphan = await orphanProblem(input);
    if (orphan) return orphan;
    const subject = await loadLaunchSubject(deps, input.taskId, input.request);
    if (!subject) return refusal('NOT_FOUND', 404, `No task has the id ${input.taskId}.`, { taskId: input.taskId });
    const changed = input.retry && statusChanged(subject.task, input.retry.parentAttemptId);
    if (changed) return changed;
    const plan = planLaunch(subject, { maxRetries: input.maxRetries });
    if ('refused' in plan) return traceRefusal(deps.traces, subject, plan, input.attemptId);
    await traceRoute(deps.traces, subject, input.attemptId);

    const { repository } = plan;
    const hostId = repository ? (repository.hostId ?? (await hostFor(input.taskId))) : null;
    if (hostId === undefined) {
      return refusal('HOST_UNAVAILABLE', 409, 'No host with a worker is live; start one with npm run start:worker.');
    }
    const conversation = input.conversation && (await conversationFields(deps, input.conversation.documentId));
    return deps.attempts.create({
      taskStatus: subject.task.status,
      ...newRecord(input, createdAt, plan, hostId),
      ...conversation,
    });
  }

  /** What is tried again has the parent that was asked for then, whatever became of it since. */
  async function orphanProblem({
    taskId,
    request,
    workspaceId,
    retry,
  }: StoredLaunch): Promise<LaunchRefusal | undefined> {
    if (retry) return undefined;
    const sources = { attempts: deps.attempts, admissionRequests: deps.admission.requests };
    return parentProblem(sources, { taskId, parentAttemptId: request.parentAttemptId, workspaceId });
  }

  /** A task stays on the host that has its worktree. */
  async function hostFor(taskId: string): Promise<string | undefined> {
    const worktree = await deps.worktrees.get(taskId);
    return worktree && worktree.state !== 'removed' ? worktree.hostId : deps.hosts.anyLive();
  }
}

export type AdmissionActivities = ReturnType<typeof createAdmissionActivities>;

/** A retry does not take a task back that somebody has moved on since the attempt that failed. */
function statusChanged({ id: taskId, status, attempt }: Task, parentAttemptId: string): LaunchRefusal | undefined {
  if (attempt?.id !== parentAttemptId || status === 'in-progress') return undefined;
  return refusal('TASK_STATUS_CHANGED', 409, `The task was set to ${status} meanwhile.`, { taskId, status });
}

/** What an attempt keeps of the conversation it goes on with. */
async function conversationFields(
  { conversations }: Pick<AdmissionDependencies, 'conversations'>,
  documentId: string,
): Promise<Pick<AttemptRecord, 'message' | 'conversation' | 'continuation'>> {
  const found = await conversations.get(documentId);
  if (!found) throw new Error(`The conversation ${documentId} is missing from the stores.`);
  const { edge, sourceAttemptId, forkTurnId, message: text, actor, continuation } = found;
  return {
    message: { text, actor },
    conversation: { edge, sourceAttemptId, ...(forkTurnId === undefined ? {} : { forkTurnId }) },
    continuation,
  };
}

function newRecord(input: StoredLaunch, createdAt: string, plan: LaunchPlan, hostId: string | null): AttemptRecord {
  const parentAttemptId = input.retry?.parentAttemptId ?? input.request.parentAttemptId;
  return {
    ...plannedFields(plan),
    _id: input.attemptId,
    schemaVersion: 'attempt/v1',
    taskId: input.taskId,
    rootAttemptId: input.retry?.rootAttemptId ?? input.attemptId,
    ...(parentAttemptId === undefined ? {} : { parentAttemptId }),
    ...(input.origin && !input.retry ? { origin: input.origin } : {}),
    retryNumber: input.retry?.retryNumber ?? 0,
    state: 'admitted',
    revision: 1,
    hostId,
    createdAt,
    createdBy: input.actor,
  };
}
