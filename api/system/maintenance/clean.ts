import type { ApiEnvironment } from '../../../platform/config/part-settings';
import { secretValues } from '../../../platform/config/secret-values';
import { createRedactor, type Redactor } from '../../../platform/log/redact';
import { redactUserPaths } from '../../../platform/log/redact-user-paths';

/** Hides the secrets of the service's own settings, everything that has the shape of one, and the names of users in paths. */
export function createCleaner(env: ApiEnvironment): Redactor {
  const redact = createRedactor(secretValues(env));
  return (text) => redactUserPaths(redact(text));
}
