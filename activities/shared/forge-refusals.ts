import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { ForgeError, type ForgeErrorCode } from '../../providers/forges/forge-error';

/** What helps a person with each error that does not pass by itself. */
const remedies: Partial<Record<ForgeErrorCode, string>> = {
  unauthorized: 'Give the workers a token that is valid.',
  forbidden: 'Give the token the rights to contents, pull requests and issues of the repository.',
  'not-found': 'Check the name of the repository, and that the token may read it.',
  moved: 'Configure the address that the repository has now.',
  'refused-address': 'Set BOARD_FORGE_ALLOW_PRIVATE where the forge is on a private network.',
};

/** The codes of refusals and failures that errors become, of forges and of trackers, whose errors are those of forges. */
const codes = {
  forge: {
    unauthorized: 'FORGE_UNAUTHORIZED',
    forbidden: 'FORGE_FORBIDDEN',
    'not-found': 'FORGE_NOT_FOUND',
    invalid: 'FORGE_INVALID',
    'rate-limited': 'FORGE_RATE_LIMITED',
    unavailable: 'FORGE_UNAVAILABLE',
    moved: 'FORGE_MOVED',
    'refused-address': 'FORGE_REFUSED_ADDRESS',
  },
  tracker: {
    unauthorized: 'TRACKER_UNAUTHORIZED',
    forbidden: 'TRACKER_FORBIDDEN',
    'not-found': 'TRACKER_NOT_FOUND',
    invalid: 'TRACKER_INVALID',
    'rate-limited': 'TRACKER_RATE_LIMITED',
    unavailable: 'TRACKER_UNAVAILABLE',
    moved: 'TRACKER_MOVED',
    'refused-address': 'TRACKER_REFUSED_ADDRESS',
  },
} satisfies Record<string, Record<ForgeErrorCode, string>>;

/** The code of a refusal or failure that an error of a forge becomes: `FORGE_UNAUTHORIZED`. */
export const forgeCodeOf = ({ code }: ForgeError): string => codes.forge[code];

/** The message of an error of a forge, and what helps where more than time does. */
export const forgeAdvice = ({ code, message }: ForgeError): string =>
  [message, remedies[code]].filter((part) => part !== undefined).join(' ');

/** Calls a forge in an activity: see `callService`. */
export const callForge = <T>(call: () => Promise<T>): Promise<{ value: T } | Refusal> =>
  callService(codes.forge, call, remedies);

/** Calls a tracker in an activity: see `callService`. */
export const callTracker = <T>(call: () => Promise<T>): Promise<{ value: T } | Refusal> =>
  callService(codes.tracker, call);

/**
 * Calls a service in an activity. What will not pass is a refusal, `FORGE_UNAUTHORIZED` and the like, with what helps where that is known.
 *
 * @throws ApplicationFailure that is retried for what passes, after the time that the service has asked for
 */
async function callService<T>(
  types: Record<ForgeErrorCode, string>,
  call: () => Promise<T>,
  known?: Partial<Record<ForgeErrorCode, string>>,
): Promise<{ value: T } | Refusal> {
  try {
    return { value: await call() };
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    const { code, message, retryAfterMs } = error;
    const type = types[code];
    if (code === 'unavailable' || code === 'rate-limited') {
      throw ApplicationFailure.create({
        type,
        message,
        ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs, details: [{ retryAfterMs }] }),
      });
    }
    return refusal(type, message, known && { remediation: known[code] ?? null });
  }
}
