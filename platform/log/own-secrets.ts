/** Shorter values would shred ordinary text; keys and tokens are longer than this. */
const shortestOwnSecret = 8;

let values: readonly string[] = [];

/**
 * Secrets of this process itself: from now on every redactor hides them, those that were made before too. There is one such
 * list for a process, because what may leak is written by many modules.
 */
export function hideOwnSecrets(secrets: readonly (string | undefined)[]): void {
  const added = secrets.filter((secret): secret is string => (secret?.length ?? 0) >= shortestOwnSecret);
  values = [...new Set([...values, ...added])];
}

/** The same list until another secret is added. */
export const ownSecrets = (): readonly string[] => values;
