import { credentialFields } from '../../../domain/contract/secrets';
import { validationError } from '../../../platform/errors/app-error';

/**
 * Refuses credentials in a configuration, which every reader of the settings or an attempt is shown.
 *
 * @param remedy what to do instead
 * @throws AppError 400 with the path of each text that resembles one, and never the text
 */
export function refuseCredentials(
  document: unknown,
  remedy = 'name a variable in environmentKeys of the agent instead',
): void {
  const paths = credentialFields(document);
  if (paths.length === 0) {
    return;
  }
  const message = `seems to contain a credential; ${remedy}`;
  throw validationError(paths.map((path) => ({ path, message, code: 'credential' })));
}
