import { approvalLifetime, type ApprovalRequest, type RunApproval } from '../../contracts/runs/approval';
import { createRedactor } from '../../platform/log/redact';
import { boundedPayload } from '../events/bounded-payload';
import { clipText } from '../events/clip';
import { actionHashOf, approvalIdOf } from './identity';
import { isMobileSafe } from './risk';

/** Longest texts of a record, in bytes. */
const limits = { action: 4_000, reason: 2_000, scope: 1_000, scopes: 100 };

const redact = createRedactor();
const shown = (text: string, bytes: number): string => clipText(redact(text), bytes);

/** The record of a request, pending, as it is stored: without secrets, and bounded whatever the request's size. */
export function newApproval(request: ApprovalRequest, now: Date): RunApproval {
  const { shortestMs, defaultMs, longestMs } = approvalLifetime;
  const lifetimeMs = Math.min(Math.max(request.lifetimeMs ?? defaultMs, shortestMs), longestMs);
  const at = now.toISOString();
  return {
    schemaVersion: 'run-approval/v1',
    id: approvalIdOf(request),
    workspaceId: request.workspaceId,
    taskId: request.taskId,
    attemptId: request.attemptId,
    provider: request.provider,
    agentId: request.agentId,
    requestKind: request.requestKind ?? 'approval',
    actionClass: request.actionClass,
    action: shown(request.action, limits.action),
    actionHash: actionHashOf(request),
    details: boundedPayload(request.details ?? {}, redact).payload,
    resourceScope: (request.resourceScope ?? []).slice(0, limits.scopes).map((scope) => shown(scope, limits.scope)),
    workingDirectory: request.workingDirectory ?? null,
    riskClass: request.riskClass,
    policyReason: shown(request.policyReason, limits.reason),
    evidenceRevision: request.evidenceRevision ?? null,
    providerRequestId: request.providerRequestId,
    threadId: request.threadId ?? null,
    turnId: request.turnId ?? null,
    itemId: request.itemId ?? null,
    mobileSafe: (request.mobileSafe ?? isMobileSafe(request.riskClass)) && request.riskClass !== 'critical',
    takesResponse: request.responseKey !== undefined,
    ...(request.phase === undefined ? {} : { phase: request.phase }),
    status: 'pending',
    revision: 1,
    createdAt: at,
    updatedAt: at,
    expiresAt: new Date(now.getTime() + lifetimeMs).toISOString(),
  };
}
