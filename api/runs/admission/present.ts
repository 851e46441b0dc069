import type { PresentedQueueEntry, PresentedReservation } from '../../../contracts/runs/admission';
import type { AdmissionSettings } from '../../../contracts/settings/settings';
import { hostKey, limiting, minus, nothing, rootTaskKey } from '../../../domain/admission/capacity';
import { workflowOf } from '../../../domain/admission/request';
import { effectivePriority } from '../../../domain/admission/schedule';
import type { QueueRecord } from '../../../stores/runs/admission/queue-store';
import type { ReservationRecord } from '../../../stores/runs/admission/reservation-record';

/** A reservation as callers see it: hosts and root tasks hashed, nothing of the run's prompt. */
export function presentReservation(record: ReservationRecord): PresentedReservation {
  const { requested, committed, state } = record;
  const unused = minus(requested, committed);
  return {
    schemaVersion: 'admission-reservation/v1',
    id: record._id,
    state,
    revision: record.revision,
    request: {
      version: 1,
      source: record.source,
      taskId: record.taskId,
      attemptId: record.attemptId,
      workspaceId: record.workspaceId,
      rootTaskId: rootTaskKey(record),
      agent: record.agent,
      provider: record.provider,
      hostId: record.hostKey,
      phase: record.phase,
      priority: record.priority,
      requestedAt: record.requestedAt,
    },
    requested,
    policies: record.evaluated,
    attempt: { taskId: record.taskId, attemptId: record.attemptId },
    tree: {
      schemaVersion: 'execution-tree-identity/v1',
      rootObjectiveId: record.rootObjectiveId,
      nodeId: record.nodeId,
      parentNodeId: record.parentNodeId,
      edge: record.edge,
      depth: record.depth,
      requested,
      remaining: state === 'active' ? unused : nothing,
      committed,
      releasedUnused: state === 'active' ? nothing : unused,
    },
    workflow: workflowOf(record) ?? null,
    lease: { heartbeatAt: record.heartbeatAt, expiresAt: record.leaseExpiresAt },
    release: record.release ?? null,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}

/** A queue entry as callers see it (specification 2, Admission rule 3). */
export function presentEntry(entry: QueueRecord, settings: AdmissionSettings, now: Date): PresentedQueueEntry {
  const enqueuedAt = Date.parse(entry.enqueuedAt);
  const until = entry.endedAt === undefined ? now.getTime() : Date.parse(entry.endedAt);
  return {
    id: entry._id,
    revision: entry.revision,
    state: entry.state,
    taskId: entry.taskId,
    attemptId: entry.attemptId,
    workspaceId: entry.workspaceId,
    rootTask: rootTaskKey(entry),
    host: entry.hostId === null ? null : hostKey(entry.hostId),
    agent: entry.agent,
    provider: entry.provider,
    phase: entry.phase,
    source: entry.source,
    tree: {
      schemaVersion: 'execution-tree-identity/v1',
      rootObjectiveId: entry.rootObjectiveId,
      nodeId: entry.nodeId,
      parentNodeId: entry.parentNodeId,
      edge: entry.edge,
      depth: entry.depth,
    },
    priority: entry.priority,
    effectivePriority: effectivePriority({ priority: entry.priority, enqueuedAt }, settings.queue.scheduler, until),
    requested: entry.requested,
    enqueuedAt: entry.enqueuedAt,
    ageMs: Math.max(0, until - enqueuedAt),
    retries: entry.retries,
    retryAfterMs: settings.retryAfterMs,
    readiness: readinessOf(entry, now),
    notBefore: entry.notBefore ?? null,
    limitingScopes: limiting(entry.limitingPolicies),
    limitingPolicies: entry.limitingPolicies,
    selection: entry.selection ?? null,
    outcome: entry.outcome ?? null,
  };
}

function readinessOf({ state, notBefore, limitingPolicies }: QueueRecord, now: Date): PresentedQueueEntry['readiness'] {
  if (state === 'dispatched' || state === 'terminal') {
    return 'ended';
  }
  if (state === 'leased') {
    return 'leased';
  }
  if (notBefore !== undefined && notBefore > now.toISOString()) {
    return 'backoff';
  }
  return limitingPolicies.length > 0 ? 'blocked' : 'ready';
}
