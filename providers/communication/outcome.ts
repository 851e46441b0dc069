import { retryAfterMs } from '../../platform/http/retry-after';
/** What one attempt to send a message came to. */
export type SendOutcome = Acknowledged | Unacknowledged;

export interface Acknowledged {
  acknowledged: true;
  httpStatus?: number;
}

export interface Unacknowledged {
  acknowledged: false;
  reasonCode: string;
  /** A sentence without secrets and without texts of the other side. */
  error: string;
  httpStatus?: number;
  /** Another attempt cannot succeed. */
  isFinal: boolean;
  /** How long the other side asked to wait, in milliseconds. */
  retryAfterMs?: number;
}

/** Statuses that another attempt may change. */
const isPassing = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500;

/** Of a response that is no success. */
export function refusedStatus(response: Pick<Response, 'status' | 'headers'>, now: Date): Unacknowledged {
  const { status } = response;
  const wait = isPassing(status) ? retryAfterMs(response.headers.get('retry-after'), now) : undefined;
  return {
    acknowledged: false,
    reasonCode: status === 429 ? 'rate-limited' : reasonOf(status),
    error: `The receiver responded with ${status}.`,
    httpStatus: status,
    isFinal: !isPassing(status),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

function reasonOf(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return 'forbidden';
    case 404:
    case 410:
      return 'gone';
    default:
      return status >= 500 || isPassing(status) ? 'unavailable' : 'refused';
  }
}

/** Of a request without a response. */
export const unreachable = (error: Error): Unacknowledged =>
  error.name === 'ForbiddenAddressError'
    ? {
        acknowledged: false,
        reasonCode: 'refused-address',
        error: 'The receiver is at an address that is not talked to.',
        isFinal: true,
      }
    : { acknowledged: false, reasonCode: 'unreachable', error: 'The receiver did not respond.', isFinal: false };
