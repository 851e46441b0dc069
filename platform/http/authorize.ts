import { AppError } from '../errors/app-error';
import type { AuthContext } from './auth';
import { isReadMethod } from './context';

/**
 * Lets a caller through or says why not.
 *
 * @throws AppError `AUTH_REQUIRED` 401, `WRITE_FORBIDDEN` 403 (a read-only caller, whatever the permission), `FORBIDDEN` 403
 */
export function authorize(
  auth: AuthContext | undefined,
  permission: string,
  method: string,
  credential?: 'attempt-handle',
): AuthContext {
  if (!auth) {
    throw new AppError(
      'AUTH_REQUIRED',
      401,
      credential === 'attempt-handle'
        ? 'This takes the handle of an attempt whose agent runs, in X-Board-Attempt-Handle, and nothing else.'
        : 'A valid key is required: send it as X-API-Key or as a bearer token. Where the service is set up to ask for none, ' +
            'that is for direct requests to localhost or to its address, not for those of a proxy or of a page elsewhere.',
    );
  }
  const standing = { required: [permission], currentRole: auth.role, currentPermissions: auth.permissions };
  if (auth.role === 'read-only' && !isReadMethod(method)) {
    throw new AppError('WRITE_FORBIDDEN', 403, 'A read-only caller may only read.', standing);
  }
  if (!auth.permissions.includes(permission)) {
    throw new AppError('FORBIDDEN', 403, `This needs the permission ${permission}.`, standing);
  }
  return auth;
}
