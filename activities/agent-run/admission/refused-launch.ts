import type { Refusal } from '../../../contracts/refusal';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { compact } from '../../../platform/json/compact';
import { cut } from '../../../platform/text/cut';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import { releaseTask, type TaskHolds } from '../../../stores/runs/cancel-recovery';
import type { RunEventStore } from '../../../stores/runs/event-store';
import type { RecoveryStore } from '../../../stores/runs/recovery-store';
import type { AuditStore } from '../../../stores/system/audit-store';
import type { StoredLaunch } from '../../recovery/stored-launch';
import { sourceOf } from '../../shared/event-source';
import { recoveryRefused } from '../completion/run-audit';

export interface RefusedLaunchDependencies extends TaskHolds {
  attempts: Pick<AttemptStore, 'get' | 'create' | 'refuse'>;
  recoveries: Pick<RecoveryStore, 'refuse'>;
  events: Pick<RunEventStore, 'append'>;
  audit: Pick<AuditStore, 'record'>;
}

/**
 * Ends a launch that was refused after it was recorded: the task and its worktree are free, the recovery that launched it
 * records why nothing follows, and the attempt is `refused`. Each step detects what an earlier try did.
 */
export async function endRefusedLaunch(
  deps: RefusedLaunchDependencies,
  record: AttemptRecord,
  { launch, at }: { launch: Refusal; at: string },
): Promise<void> {
  await releaseTask(deps, record.taskId, record._id);
  if (await recordOnRecovery(deps, record, { launch, at })) {
    await deps.events.append(sourceOf(record), [refused(launch, at)]);
  }
  await deps.attempts.refuse(record._id, launch, at);
}

/**
 * Records on the recovery that the attempt it was to launch was refused.
 *
 * @returns whether the attempt follows another one at all
 */
export async function recordOnRecovery(
  deps: Pick<RefusedLaunchDependencies, 'recoveries' | 'audit'>,
  record: Pick<AttemptRecord, '_id' | 'taskId' | 'agent' | 'parentAttemptId' | 'retryNumber'>,
  { launch: { code, message }, at }: { launch: Pick<Refusal, 'code' | 'message'>; at: string },
): Promise<boolean> {
  const { _id, parentAttemptId, retryNumber } = record;
  if (retryNumber === 0 || parentAttemptId === undefined) {
    return false;
  }
  await deps.recoveries.refuse(parentAttemptId, _id, { code, message, at });
  await deps.audit.record(recoveryRefused(record, parentAttemptId, code));
  return true;
}

/**
 * Ends a retry or fallback that was refused before it could be planned: its fields come from the attempt it follows, so that it
 * can be read like every other refused attempt. `agent` is the one it was to be launched with, where that is still configured.
 */
export async function endUnplannedRetry(
  deps: RefusedLaunchDependencies,
  { attemptId, request, retry }: StoredLaunch,
  { agent, launch, at }: { agent: AgentConfig | undefined; launch: Refusal; at: string },
): Promise<void> {
  const parent = retry && (await deps.attempts.get(retry.parentAttemptId));
  if (!parent) {
    return;
  }
  const record: AttemptRecord = {
    ...plannedOf(parent),
    ...(agent ? { agentConfig: agent, provider: agent.provider } : {}),
    agent: agent?.type ?? request.agent ?? parent.agent,
    _id: attemptId,
    request,
    parentAttemptId: parent._id,
    retryNumber: retry.retryNumber,
    state: 'refused',
    launch,
    revision: 1,
    createdAt: at,
    endedAt: at,
  };
  await endRefusedLaunch(deps, record, { launch, at });
  await deps.attempts.create(record);
}

/** What an attempt was planned as, without anything that happened to it. */
const plannedOf = (parent: AttemptRecord) => ({
  schemaVersion: parent.schemaVersion,
  taskId: parent.taskId,
  rootAttemptId: parent.rootAttemptId,
  provider: parent.provider,
  phase: parent.phase,
  commitPolicy: parent.commitPolicy,
  commitPolicySource: parent.commitPolicySource,
  hostId: parent.hostId,
  createdBy: parent.createdBy,
  objective: parent.objective,
  agentConfig: parent.agentConfig,
  selection: parent.selection,
  profile: parent.profile,
  sandbox: parent.sandbox,
  maxRetries: parent.maxRetries,
  repository: parent.repository,
  git: parent.git,
  ...compact({ conversation: parent.conversation }),
});

const refused = ({ code, message }: Refusal, receivedAt: string) => ({
  kind: 'run.refused' as const,
  payload: { code, message: cut(message, 2_000) },
  receivedAt,
  dedupeKey: 'refused',
});
