import { validationError } from '../../platform/errors/app-error';
import { credentialFields } from '../../runs/contract/secrets';

/**
 * Keeps credentials out of a configuration, which everybody who may read the settings or an attempt is shown.
 *
 * @throws AppError 400 with the path of each text that holds what looks like one, and never the text
 */
export function refuseCredentials(document: unknown): void {
  const paths = credentialFields(document);
  if (paths.length === 0) return;
  const message = 'holds what looks like a credential; name a variable in environmentKeys of the agent instead';
  throw validationError(paths.map((path) => ({ path, message, code: 'credential' })));
}
