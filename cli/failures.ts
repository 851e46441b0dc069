import { BoardError } from '../client';

/** What the command ends with; scripts branch on it. */
export const exitCodes = {
  done: 0,
  /** The board refused the request, for a reason that none of the others names. */
  refused: 1,
  /** The command line or its configuration is wrong. */
  usage: 2,
  notFound: 3,
  notPermitted: 4,
  /** The board is in a state that does not allow it. */
  conflict: 5,
  /** The board could not be reached, or cannot answer now. */
  unavailable: 6,
  /** The run has ended without success. */
  unsuccessful: 10,
  interrupted: 130,
} as const;

/** A mistake of the caller, as a sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** How a failed command is reported. */
export interface FailureReport {
  exitCode: number;
  message: string;
  code?: string | undefined;
  /** What to do next, in one line. */
  remedy?: string | undefined;
}

const byStatus: Record<number, number> = {
  401: exitCodes.notPermitted,
  403: exitCodes.notPermitted,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  503: exitCodes.unavailable,
};

interface Issue {
  path?: unknown;
  message?: unknown;
}

/** The fields that a refusal names. */
function issuesOf(details: Record<string, unknown>): string {
  const issues = Array.isArray(details.issues) ? (details.issues as Issue[]) : [];
  return issues.map(({ path, message }) => `${String(path)}: ${String(message)}`).join('; ');
}

function remedyOf({ status, details }: BoardError): string | undefined {
  const next: unknown = (details as Record<string, unknown>).next;
  if (typeof next === 'object' && next !== null && 'remedy' in next) {
    return String(next.remedy);
  }
  return status === 401 ? 'Sign in with "runboard login", or set RUNBOARD_KEY.' : undefined;
}

/** A connection that failed, by the code of its cause. */
function connectionProblem(error: unknown): string | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return error instanceof TypeError && cause instanceof Error
    ? ((cause as NodeJS.ErrnoException).code ?? cause.message)
    : undefined;
}

export function reportOf(error: unknown, url: string): FailureReport {
  if (error instanceof BoardError) {
    const issues = issuesOf(error.details);
    return {
      exitCode: byStatus[error.status] ?? exitCodes.refused,
      message: issues === '' ? error.message : `${error.message}: ${issues}`,
      code: error.code,
      remedy: remedyOf(error),
    };
  }
  const problem = connectionProblem(error);
  if (problem !== undefined) {
    return {
      exitCode: exitCodes.unavailable,
      message: `No board answers at ${url} (${problem}).`,
      code: 'UNREACHABLE',
      remedy: 'Start one with "runboard start", or name another with --url or RUNBOARD_URL.',
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: error instanceof UsageError ? exitCodes.usage : exitCodes.refused, message };
}
