/** Passes the operator's umask to processes of the service, which have a umask of their own. */
const umaskVariable = 'RUNBOARD_UMASK';
const ownUmask = 0o077;

let operators: number | undefined;

/** Whatever this process and its children make from now on is its user's alone. Called first by every entry point. */
export function makeFilesPrivate(): void {
  const before = process.umask(ownUmask);
  const configured = process.env[umaskVariable];
  Reflect.deleteProperty(process.env, umaskVariable);
  operators = configured === undefined ? before : Number.parseInt(configured, 8);
}

/** For the environment of a process of the service. */
export const umaskEnvironment = (): NodeJS.ProcessEnv =>
  operators === undefined ? {} : { [umaskVariable]: operators.toString(8) };

/** For a process of the service that starts only programs that work on the operator's repositories. */
export function useOperatorUmask(): void {
  const configured = process.env[umaskVariable];
  if (configured !== undefined) {
    process.umask(Number.parseInt(configured, 8));
  }
}

/**
 * Starts a program that works on the operator's repositories with the operator's umask, as if the operator had started it: with
 * the service's, others who share a repository could not read what is added to it.
 *
 * @param start starts it before it returns
 */
export function asOperator<T>(start: () => T): T {
  if (operators === undefined) {
    return start();
  }
  const own = process.umask(operators);
  try {
    return start();
  } finally {
    process.umask(own);
  }
}
