import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

export type FoundCommand =
  | { path: string }
  | {
      problem: string;
      /** Directories in which a name was searched. */
      searched?: string[];
    };

/** Why a file cannot be run. Synchronous: by way of the thread pool, each of these checks would cost fifty times as much. */
function problemWith(path: string): string | undefined {
  try {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (!facts) {
      return `${path} does not exist.`;
    }
    if (!facts.isFile()) {
      return `${path} is not a file.`;
    }
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
      ? `${path} is not executable.`
      : `${path} does not exist.`;
  }
}

/** Whether a path is a file that this user may run. */
export const isExecutable = (path: string): boolean => problemWith(path) === undefined;

/**
 * Finds the executable of a command: an absolute path, or a name on `searchPath`. Relative paths are refused: what they
 * mean would depend on the working directory, which for an agent is the worktree.
 */
export function findCommand(command: string, searchPath: string): FoundCommand {
  if (command.includes('\0')) {
    return { problem: 'The command holds a NUL character.' };
  }
  if (isAbsolute(command)) {
    const problem = problemWith(command);
    return problem === undefined ? { path: command } : { problem };
  }
  if (command.includes('/')) {
    return { problem: `The command ${command} must be an absolute path or a name on the PATH.` };
  }
  // Empty and relative entries of a PATH mean the working directory.
  const searched = searchPath.split(delimiter).filter((entry) => isAbsolute(entry));
  for (const directory of searched) {
    const path = join(directory, command);
    if (isExecutable(path)) {
      return { path };
    }
  }
  return { problem: `The command ${command} was not found on the PATH, or is not executable.`, searched };
}
