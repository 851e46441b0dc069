import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Whether a path is a file that this user may run. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The directories of a `PATH`, in the order in which they are searched. */
export const searchedDirectories = (path = process.env.PATH): string[] => (path ?? '').split(delimiter).filter(Boolean);

/** The program of a name that a `PATH` leads to, as a shell would find it; `undefined` when there is none. */
export async function findOnPath(program: string, path = process.env.PATH): Promise<string | undefined> {
  for (const directory of searchedDirectories(path ?? '')) {
    const candidate = join(directory, program);
    if (await isExecutable(candidate)) {
      return candidate;
    }
  }
  return undefined;
}
