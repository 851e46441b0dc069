import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../../contracts/refusal';
import type { LaunchOutcome } from '../../../contracts/runs/launch/launch';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { Task } from '../../../contracts/tasks/task';
import { type LaunchPlan, planLaunch } from '../../../domain/launch-plan';
import { refusal } from '../../../domain/refusal';
import { messageUnproven } from '../../../platform/crypto/message-proof-shape';
import { compact } from '../../../platform/json/compact';
import type { ProofVerifier } from '../../../platform/temporal/proof-verifier';
import type { Budgets } from '../../../stores/governance/budgets/budgets';
import type { DecisionPoint } from '../../../stores/governance/decision-point';
import type { TraceStore } from '../../../stores/governance/trace-store';
import type { Stores } from '../../../stores/open-stores';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { ConversationStore } from '../../../stores/runs/conversation-store';
import { type LaunchSources, loadLaunchInputs } from '../../../stores/runs/launch/launch-inputs';
import { parentProblem } from '../../../stores/runs/launch/launch-parent';
import { ruleOnLaunch } from '../../../stores/runs/launch/launch-rules';
import { traceRefusal, traceRoute } from '../../../stores/runs/launch/route-trace';
import type { AuditStore } from '../../../stores/system/audit-store';
import type { AgentRunInput } from '../../../workflows/agent-run/messages';
import { launchMessage } from '../../../workflows/message-proofs';
import { type StoredLaunch, storedLaunch } from '../../recovery/stored-launch';
import { sourceOf } from '../../shared/event-source';
import { plannedFields } from '../prepare/launch-snapshot';
import { confirmDispatch, type DispatchConfirmation } from './confirm';
import { decideCapacity } from './decide';
import type { AdmissionControl } from './dependencies';
import { endRefusedLaunch, endUnplannedRetry } from './refused-launch';
import { requestOf } from './request';
import { ruledLaunch } from './ruled-launch';
import { claimTask } from './run-active';
import { watchedLaunch } from './watched-launch';

export interface AdmissionDependencies
  extends
    Omit<LaunchSources, 'attempts'>,
    Pick<Stores, 'hosts' | 'attempts' | 'activeRuns' | 'recoveries' | 'worktrees' | 'events'> {
  traces: Pick<TraceStore, 'record'>;
  rules: DecisionPoint;
  budgets: Pick<Budgets, 'release'>;
  admission: AdmissionControl;
  conversations: Pick<ConversationStore, 'get'>;
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
  /** Whether the agent may outlive its worker: then the next one reattaches to it. */
  reattach?: boolean;
  /** Set when the launch is decided already: refused, or queued for capacity. */
  launch?: LaunchOutcome;
}

export function createAdmissionActivities(deps: AdmissionDependencies) {
  return {
    /**
     * Decides one launch: takes the task, reserves capacity in one atomic step, or queues, or refuses. Every step detects the
     * result of an earlier try, so that repeating it decides nothing twice.
     */
    async admit(message: AgentRunInput): Promise<Admitted> {
      const decidedAt = deps.now().toISOString();
      const input = await provenLaunch(message);
      const unrecorded = { provider: '', agent: '', phase: '', hostId: null, decidedAt };
      // An unproven message changes nothing, whatever attempt it names.
      if ('status' in input) {
        return { ...unrecorded, launch: input };
      }
      const record = (await deps.attempts.get(input.attemptId)) ?? (await recordAttempt(input, decidedAt));
      if ('status' in record) {
        await endUnplannedRetry(deps, input, { agent: await agentOf(input), launch: record, at: decidedAt });
        return { ...unrecorded, launch: record };
      }
      const { provider, agent, phase, hostId } = record;
      const timeoutMs = record.timeoutMs ?? (await currentTimeoutMs());
      const reattach = record.agentConfig.reattach === true ? { reattach: true } : {};
      const admitted = { provider, agent, phase, hostId, decidedAt, timeoutMs, ...reattach };
      if (record.launch) {
        return { ...admitted, launch: record.launch };
      }

      const busy = await claimTask(deps, record);
      if (busy) {
        return { ...admitted, launch: await refuse(record, busy, decidedAt) };
      }
      // Read once it is taken, so that either the launch sees an acceptance of its last result or the acceptance sees the launch.
      const task = (await deps.board.get(record.taskId))?.task;
      const accepting = acceptanceProblem(task);
      if (accepting) {
        return { ...admitted, launch: await refuse(record, accepting, decidedAt) };
      }
      const cancelled = await followsNothing(input, decidedAt);
      if (cancelled) {
        return { ...admitted, launch: await refuse(record, cancelled, decidedAt) };
      }
      const request = await requestOf({ ...deps, ...deps.admission }, input, { record, task, requestedAt: decidedAt });
      if ('status' in request) {
        return { ...admitted, launch: await refuse(record, request, decidedAt) };
      }
      const watched = await watchedLaunch(deps.admission, request, record);
      const { refused } = await ruleOnLaunch(
        deps,
        { ...ruledLaunch(record, request, task), ...watched },
        {
          counting: { once: record._id },
          once: record._id,
          use: record.rootAttemptId,
          hold: record._id,
        },
      );
      if (refused) {
        return { ...admitted, launch: await refuse(record, refused, decidedAt) };
      }
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

    /** Checks once more everything a queued launch was decided on, now that it has capacity. */
    confirmDispatch: ({ attemptId }: { attemptId: string }): Promise<DispatchConfirmation> =>
      confirmDispatch(deps, attemptId),
  };

  /**
   * What is launched, by the signature of the API or, for a retry and for an orphaned attempt, by the stores; the message
   * itself proves nothing.
   */
  async function provenLaunch(message: AgentRunInput): Promise<StoredLaunch | Refusal> {
    const { proof, ...input } = message;
    const stored =
      proof === undefined ? await storedLaunch({ ...deps, requests: deps.admission.requests }, input) : undefined;
    if (stored) {
      return stored;
    }
    try {
      await deps.proofs.require(launchMessage(input), proof);
      return input;
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || error.type !== messageUnproven) {
        throw error;
      }
      return refusal(messageUnproven, error.message, { attemptId: input.attemptId });
    }
  }

  async function currentTimeoutMs(): Promise<number> {
    const { agents } = await deps.admission.settings.current();
    return agents.timeoutMinutes * 60_000;
  }

  /** Releases what the launch took, and records the reason of its refusal for every waiting caller. */
  async function refuse(record: AttemptRecord, launch: Refusal, decidedAt: string): Promise<Refusal> {
    await endRefusedLaunch(deps, record, { launch, at: decidedAt });
    await deps.budgets.release(record._id);
    return launch;
  }

  /** The agent that a launch names, where it is still configured. */
  async function agentOf({ request }: StoredLaunch): Promise<AgentConfig | undefined> {
    const { agents } = await deps.routing.inputs();
    return agents.find(({ type }) => type === request.agent);
  }

  /** The launch waits in the queue: publishes that, stores the response, and wakes the scheduler. */
  async function answerQueued(record: AttemptRecord, launch: LaunchOutcome): Promise<LaunchOutcome> {
    const limitingScopes = launch.status === 'queued' ? launch.limitingScopes : [];
    await deps.events.append(sourceOf(record), [
      { kind: 'run.queued', payload: { limitingScopes }, dedupeKey: 'queued' },
    ]);
    await deps.attempts.answer(record._id, launch, 'queued');
    await deps.admission.wakeScheduler();
    return launch;
  }

  /** Records that a recovery was launched, or returns why it may not be: cancelled at the last moment, or refused before. */
  async function followsNothing({ retry }: StoredLaunch, at: string): Promise<Refusal | undefined> {
    if (!retry) {
      return undefined;
    }
    const { parentAttemptId } = retry;
    const launched = await deps.recoveries.move(parentAttemptId, {
      from: ['scheduled', 'launching'],
      fields: { state: 'launched' },
      updatedAt: at,
    });
    const recovery = launched ?? (await deps.recoveries.get(parentAttemptId));
    if (recovery?.refusal) {
      return refusal(recovery.refusal.code, recovery.refusal.message);
    }
    if (recovery?.state !== 'cancelled') {
      return undefined;
    }
    return refusal('RECOVERY_CANCELLED', 'The recovery was cancelled.', { attemptId: parentAttemptId });
  }

  /** Runs the readiness gate against the present state and stores the attempt, or returns the refusal. */
  async function recordAttempt(input: StoredLaunch, createdAt: string): Promise<AttemptRecord | Refusal> {
    const orphan = await orphanProblem(input);
    if (orphan) {
      return orphan;
    }
    const inputs = await loadLaunchInputs(deps, input.taskId, input.request);
    if (!inputs) {
      return refusal('NOT_FOUND', `No task has the id ${input.taskId}.`, { taskId: input.taskId });
    }
    const changed = input.retry && statusChanged(inputs.task, input.retry.parentAttemptId);
    if (changed) {
      return changed;
    }
    const plan = planLaunch(inputs, { maxRetries: input.maxRetries });
    if ('refused' in plan) {
      return traceRefusal(deps.traces, inputs, { plan, attemptId: input.attemptId });
    }
    await traceRoute(deps.traces, inputs, input.attemptId);

    const { repository } = plan;
    const hostId = repository ? (repository.hostId ?? (await hostFor(input.taskId))) : null;
    if (hostId === undefined) {
      return refusal('HOST_UNAVAILABLE', 'No host with a worker is live; start one with npm run start:worker.');
    }
    const conversation = input.conversation && (await conversationFields(deps, input.conversation.documentId));
    return deps.attempts.create({
      taskStatus: inputs.task.status,
      ...compact({ project: inputs.task.project }),
      ...newRecord(input, plan, { createdAt, hostId }),
      ...conversation,
    });
  }

  /** A retry has the parent that its first launch requested, whatever became of that since. */
  async function orphanProblem({ taskId, request, workspaceId, retry }: StoredLaunch): Promise<Refusal | undefined> {
    if (retry) {
      return undefined;
    }
    const sources = { attempts: deps.attempts, admissionRequests: deps.admission.requests };
    return parentProblem(sources, { taskId, parentAttemptId: request.parentAttemptId, workspaceId });
  }

  /** A task stays on the host that has its worktree. */
  async function hostFor(taskId: string): Promise<string | undefined> {
    const worktree = await deps.worktrees.get(taskId);
    return worktree && worktree.state !== 'removed' ? worktree.hostId : deps.hosts.anyForLaunch();
  }
}

export type AdmissionActivities = ReturnType<typeof createAdmissionActivities>;

/** A retry does not take a task back whose status was changed since the attempt that failed. */
function statusChanged({ id: taskId, status, attempt }: Task, parentAttemptId: string): Refusal | undefined {
  if (attempt?.id !== parentAttemptId || status === 'in-progress') {
    return undefined;
  }
  return refusal('TASK_STATUS_CHANGED', `The task was set to ${status} in the meantime.`, { taskId, status });
}

/** What an attempt stores of the conversation it continues. */
async function conversationFields(
  { conversations }: Pick<AdmissionDependencies, 'conversations'>,
  documentId: string,
): Promise<Pick<AttemptRecord, 'message' | 'conversation' | 'continuation'>> {
  const conversation = await conversations.get(documentId);
  if (!conversation) {
    throw new Error(`The conversation ${documentId} is missing from the stores.`);
  }
  const { edge, sourceAttemptId, forkTurnId, message: text, actor, continuation } = conversation;
  return {
    message: { text, actor },
    conversation: { edge, ...compact({ sourceAttemptId, forkTurnId }) },
    ...compact({ continuation }),
  };
}

function newRecord(
  input: StoredLaunch,
  plan: LaunchPlan,
  { createdAt, hostId }: { createdAt: string; hostId: string | null },
): AttemptRecord {
  const parentAttemptId = input.retry?.parentAttemptId ?? input.request.parentAttemptId;
  return {
    ...plannedFields(plan),
    _id: input.attemptId,
    schemaVersion: 'attempt/v1',
    taskId: input.taskId,
    rootAttemptId: input.retry?.rootAttemptId ?? input.attemptId,
    ...compact({ parentAttemptId }),
    ...(input.origin && !input.retry ? { origin: input.origin } : {}),
    retryNumber: input.retry?.retryNumber ?? 0,
    state: 'admitted',
    revision: 1,
    hostId,
    createdAt,
    createdBy: input.actor,
  };
}

/** Why no run may begin: the result of the last one is being accepted. */
function acceptanceProblem(task: Task | undefined): Refusal | undefined {
  if (task?.review?.state !== 'accepting') {
    return undefined;
  }
  const { id: taskId, review } = task;
  const message = `The result of ${review.attemptId ?? 'the last run'} is being accepted by ${review.decidedBy ?? 'a reviewer'}; wait for the outcome.`;
  return refusal('REVIEW_ACCEPTING', message, { taskId, review });
}
