import type { Refusal } from '../contracts/refusal';
import { AppError, type ErrorStatus } from '../platform/errors/app-error';

/** Refusals whose subject does not exist. Any other is a conflict with the present state. */
const statusByCode: Partial<Record<string, ErrorStatus>> = {
  NOT_FOUND: 404,
  AGENT_UNKNOWN: 404,
  WORKTREE_NOT_FOUND: 404,
};

/** The error a refused operation leaves HTTP with. */
export const refusalError = ({ code, message, details }: Omit<Refusal, 'status'>): AppError =>
  new AppError(code, { status: statusByCode[code] ?? 409, message, details });
