import { validationError } from '../../../platform/errors/app-error';

/**
 * Refuses programs of a configuration that are named by a relative path: what that means would be up to the directory in which
 * they are started. It is no rule of the contract: what was stored before it is still returned.
 *
 * @throws AppError 400 with the path of each `command` that no worker would start
 */
export function refuseRelativeCommands(document: unknown): void {
  const paths = relativeCommands(document);
  if (paths.length > 0) {
    const message = 'must be an absolute path, or a name on the PATH';
    throw validationError(paths.map((path) => ({ path: path.join('.'), message })));
  }
}

const relativeCommands = (value: unknown, path: readonly string[] = []): (readonly string[])[] => {
  if (typeof value === 'string') {
    return path.at(-1) === 'command' && value.includes('/') && !value.startsWith('/') ? [path] : [];
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, item]) => relativeCommands(item, [...path, name]))
    : [];
};
