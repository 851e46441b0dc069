import type { LaunchOrigin } from '../../contracts/runs/admission';
import type { Continuation } from '../../contracts/runs/completion';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { decideContinuation } from '../../domain/governance/watcher-policy';
import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import type { TraceStore } from '../../stores/governance/trace-store';
import { auditOf, decideAndTrace } from '../../stores/governance/watcher-decision';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { ConversationStore } from '../../stores/runs/conversation-store';
import { askedContinuation, type WatcherQuestionSources } from '../../stores/runs/launch/watcher-question';
import type { RoutingStore } from '../../stores/settings/routing-store';
import type { AuditStore } from '../../stores/system/audit-store';
import type { AgentRunInput, RunTimings } from '../../workflows/agent-run/messages';

export interface ContinuationLaunchDependencies extends Omit<WatcherQuestionSources, 'attempts' | 'admissionRequests'> {
  requests: WatcherQuestionSources['admissionRequests'];
  attempts: Pick<AttemptStore, 'get'>;
  conversations: Pick<ConversationStore, 'put'>;
  routing: Pick<RoutingStore, 'configuration'>;
  traces: Pick<TraceStore, 'record'>;
  audit: Pick<AuditStore, 'record'>;
  /** Starts the run under this id once, and returns the decision; `undefined` when its workflow is over. */
  launch(input: AgentRunInput): Promise<LaunchOutcome | undefined>;
  timings: RunTimings;
  workspaceId: string;
  now(): Date;
}

/** A run that continues another one. */
export interface ContinuationLaunch {
  /** The same for the same continuation: however often it is launched, it is one run. */
  attemptId: string;
  source: AttemptRecord;
  message: string;
  /** The session that is continued; a new one begins with the message where there is none. */
  continuation: Continuation | undefined;
  /** In whose name. */
  actor: string;
  /** Whether the watcher policy decides, instead of a person. */
  byWatcher: boolean;
}

/**
 * Launches a continuation of an ended run through the ordinary admission, with what its source was launched with. One by a watcher
 * is decided by the watcher policy first, which is audited once; admission asks it again, with the other rules.
 */
export async function launchContinuation(
  deps: ContinuationLaunchDependencies,
  launch: ContinuationLaunch,
): Promise<LaunchOutcome | undefined> {
  const { attemptId, source, message, continuation, actor, byWatcher } = launch;
  const before = await deps.attempts.get(attemptId);
  if (before?.launch) {
    return before.launch;
  }
  const refused = byWatcher && !before ? await refusedByWatcher(deps, launch) : undefined;
  if (refused) {
    return refused;
  }
  const edge = 'follow-up' as const;
  await deps.conversations.put({
    _id: attemptId,
    edge: continuation ? edge : 'start',
    sourceAttemptId: source._id,
    message,
    actor,
    createdAt: deps.now().toISOString(),
    ...compact({ continuation }),
  });
  const { profileId, sandboxPresetId, model, mode, phase, commitPolicy } = source.request;
  const origin: LaunchOrigin = { source: byWatcher ? 'watcher' : 'conversation', edge, parentAttemptId: source._id };
  const { maxRetries } = (await deps.routing.configuration()).value;
  const outcome = await deps.launch({
    attemptId,
    taskId: source.taskId,
    request: {
      agent: source.agent,
      parentAttemptId: source._id,
      ...compact({ profileId, sandboxPresetId, model, mode, phase, commitPolicy }),
    },
    actor,
    workspaceId: deps.workspaceId,
    timings: deps.timings,
    maxRetries,
    origin,
    conversation: { documentId: attemptId, edge: continuation ? edge : 'start', sourceAttemptId: source._id },
  });
  return outcome ?? (await deps.attempts.get(attemptId))?.launch;
}

/** Why the watcher policy does not let it continue: nothing while it allows it. */
async function refusedByWatcher(
  { requests, ...deps }: ContinuationLaunchDependencies,
  { attemptId, source, message, actor }: ContinuationLaunch,
) {
  const { settings, question } = await askedContinuation({ ...deps, admissionRequests: requests }, source, message);
  const decided = decideContinuation(settings, question);
  await deps.audit.record({ ...auditOf(question, decided), actor, once: `watcher-policy.evaluate/${attemptId}` });
  if (decided.decision === 'allow') {
    return undefined;
  }
  const { traceId } = await decideAndTrace(deps.traces, settings, question);
  const code = decided.decision === 'blocked' ? 'CONTINUATION_BLOCKED' : 'CONTINUATION_NEEDS_APPROVAL';
  return refusal(code, decided.reasons.join(' '), { ...decided, traceId });
}
