import { BoardError, refusalText } from '../clients/typescript/src';

/** What the command ends with; scripts branch on it. */
export const exitCodes = {
  done: 0,
  /** The board refused the request, for a reason that none of the others names, or the output could not be written. */
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

/** A service beside the board that does not respond. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** A request that a service beside the board refused. */
export class ServiceRefusal extends BoardError {}

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

export const signInRemedy =
  'Sign in with "runboard login" and a key of the board, such as its BOARD_ADMIN_KEY, or set RUNBOARD_KEY.';

/** A connection that failed, by the code of its cause. */
function connectionProblem(error: unknown): string | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return error instanceof TypeError && cause instanceof Error
    ? ((cause as NodeJS.ErrnoException).code ?? cause.message)
    : undefined;
}

/** A board gives each of its refusals a code. */
const isOfNoBoard = (error: unknown): error is BoardError =>
  error instanceof BoardError && !(error instanceof ServiceRefusal) && error.code === undefined;

const notABoard = (message: string): FailureReport => ({
  exitCode: exitCodes.unavailable,
  message,
  code: 'UNREACHABLE',
  remedy: 'Name the address of a board with --url or RUNBOARD_URL.',
});

export function reportOf(error: unknown, url: string): FailureReport {
  if (isOfNoBoard(error)) {
    return notABoard(`What answers at ${url} is no board, or a proxy before one: it refused with ${error.status}.`);
  }
  if (error instanceof BoardError) {
    const { message, remedy = error.status === 401 ? signInRemedy : undefined } = refusalText(error);
    return {
      exitCode: byStatus[error.status] ?? exitCodes.refused,
      message,
      code: error.code,
      remedy,
    };
  }
  if (error instanceof UnreachableError) {
    return {
      exitCode: exitCodes.unavailable,
      message: error.message,
      code: 'UNREACHABLE',
      remedy: 'Start it beside the board with "SERVICES=bitmap npm start", or name another with --bitmap-url.',
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
  // Responses of the board are JSON: what is none comes from another service, or from a proxy.
  if (error instanceof SyntaxError) {
    return notABoard(`What answers at ${url} is no board: its response is no JSON.`);
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: error instanceof UsageError ? exitCodes.usage : exitCodes.refused, message };
}
