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

/** The program of a name that a `PATH` leads to, as a shell would find it; `undefined` when there is none. */
export async function findOnPath(program: string, path = process.env.PATH): Promise<string | undefined> {
  for (const directory of (path ?? '').split(delimiter).filter(Boolean)) {
    const candidate = join(directory, program);
    if (await isExecutable(candidate)) {
      return candidate;
    }
  }
  return undefined;
}
