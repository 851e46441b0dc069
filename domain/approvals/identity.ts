import type { ApprovalRequest } from '../../contracts/runs/approval';
import { digestOf } from '../../platform/json/digest';

const hex = (value: unknown): string => digestOf(value).slice('sha256:'.length);

/**
 * The id of a request: the same for the same provider's request of the same attempt in every process, so that a repeated
 * request is one.
 */
export const approvalIdOf = (
  request: Pick<ApprovalRequest, 'workspaceId' | 'taskId' | 'attemptId' | 'provider' | 'providerRequestId'>,
): string =>
  `runapproval_${hex([
    request.workspaceId,
    request.taskId,
    request.attemptId,
    request.provider,
    request.providerRequestId,
  ]).slice(0, 32)}`;

/**
 * SHA-256 of everything that makes the action what it is, in full: what is stored of it may be shortened or redacted,
 * and a decision is nevertheless about exactly this.
 */
export const actionHashOf = (request: ApprovalRequest): string =>
  hex({
    requestKind: request.requestKind ?? 'approval',
    actionClass: request.actionClass,
    action: request.action,
    details: request.details ?? {},
    resourceScope: request.resourceScope ?? [],
    workingDirectory: request.workingDirectory ?? null,
    riskClass: request.riskClass,
    phase: request.phase ?? null,
  });
