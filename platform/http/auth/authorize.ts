import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors/app-error';
import { isReadMethod } from '../context';
import type { AuthContext } from './auth';
import { isOfOwnPage, isOfUnnamedSibling } from './loopback';

/** What an operation needs that every caller with a valid credential may use, whatever its permissions. */
export const authenticated = 'authenticated';

interface AuthorizedRequest {
  method: string;
  credential?: 'attempt-handle' | 'tool-bridge' | undefined;
  /** Whether it changes only what is the caller's own, which a read-only person may. */
  ownAccount?: boolean | undefined;
  /** Whether it changes nothing by itself. */
  relays?: boolean | undefined;
}

const carriers = { 'attempt-handle': 'in X-Board-Attempt-Handle', 'tool-bridge': 'as a bearer token' } as const;

/**
 * Admits a caller or throws the reason.
 *
 * @throws AppError `AUTH_REQUIRED` 401, `WRITE_FORBIDDEN` 403 (a read-only caller, whatever the permission), `FORBIDDEN` 403
 */
export function authorize(
  auth: AuthContext | undefined,
  permission: string,
  { method, credential, ownAccount = false, relays = false }: AuthorizedRequest,
): AuthContext {
  if (!auth) {
    throw new AppError('AUTH_REQUIRED', {
      status: 401,
      message:
        credential !== undefined
          ? `This route accepts only the handle of an attempt with a running agent, ${carriers[credential]}.`
          : 'A valid key is required: send it as X-API-Key or as a bearer token. Where the service is set up to ask for none, ' +
            'that is for direct requests to localhost or to its address, not for those of a proxy or of a page elsewhere.',
    });
  }
  const standing = { required: [permission], currentRole: auth.role, currentPermissions: auth.permissions };
  const isOwnAccount = ownAccount && auth.actorType === 'user';
  if (auth.role === 'read-only' && !isReadMethod(method) && !isOwnAccount && !relays) {
    throw new AppError('WRITE_FORBIDDEN', {
      status: 403,
      message: 'A read-only caller cannot change anything.',
      details: standing,
    });
  }
  if (permission !== authenticated && !auth.permissions.includes(permission)) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: `This requires the permission ${permission}.`,
      details: standing,
    });
  }
  return auth;
}

/**
 * Refuses a change by a session's cookie that may have been sent for a page of somewhere else, and a read that was: cookies come
 * with the requests of every page of the same site, and reads may start programs.
 *
 * @throws AppError `CSRF_REJECTED` 403
 */
export function assertOwnPage(
  auth: AuthContext | undefined,
  { method, headers }: { method: string; headers: IncomingHttpHeaders },
): void {
  if (auth?.carrier !== 'cookie') {
    return;
  }
  if (isReadMethod(method) ? isOfUnnamedSibling(headers) : !isOfOwnPage(headers)) {
    throw new AppError('CSRF_REJECTED', {
      status: 403,
      message:
        'A change with the cookie of a session needs the header Origin, or Sec-Fetch-Site: same-origin, as browsers send them; ' +
        'a read needs either of them when Sec-Fetch-Site is same-site. ' +
        'Programs send the token of the session as a bearer token.',
    });
  }
}
