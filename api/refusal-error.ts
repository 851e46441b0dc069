import type { Refusal } from '../contracts/refusal';
import { AppError, type ErrorStatus } from '../platform/errors/app-error';

/** Refusals for another reason than the present state, with which any other is in conflict. */
const statusByCode: Partial<Record<string, ErrorStatus>> = {
  VALIDATION_ERROR: 400,
  NOTHING_IN_PROGRESS: 400,
  FORBIDDEN: 403,
  POLICY_BLOCKED: 403,
  NOT_FOUND: 404,
  AGENT_UNKNOWN: 404,
  WORKTREE_NOT_FOUND: 404,
  PULL_REQUEST_NOT_FOUND: 404,
  REVISION_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  CONFLICT_NOT_FOUND: 404,
  TRACKER_NOT_FOUND: 404,
  DIFF_TOO_LARGE: 413,
  TRACKER_RATE_LIMITED: 429,
  TRACKER_UNAVAILABLE: 502,
  TRACKER_FAILED: 502,
};

/** The error a refused operation leaves HTTP with. */
export const refusalError = ({ code, message, details }: Omit<Refusal, 'status'>): AppError =>
  new AppError(code, { status: statusByCode[code] ?? 409, message, details });
