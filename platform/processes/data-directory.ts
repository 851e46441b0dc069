import { chmod, lstat, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../log/log';
import { identify, isSameProcess } from './identity';

const owner = z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() });

/** Another supervisor runs the service on this data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';

  constructor(dataDir: string, pid: number) {
    super(`The data directory ${dataDir} is used by process ${pid}. Stop that one, or set BOARD_DATA_DIR to another.`);
  }
}

/** Where the files of a workspace are: those of `local` in the data directory itself. */
export const workspaceDirectory = (dataDir: string, workspaceId: string): string =>
  workspaceId === 'local' ? dataDir : join(dataDir, 'workspaces', workspaceId);

/** The mode bits of users other than the owner. */
const others = 0o077;
/** The same, but for passing through, which the group of agents may that run as another user. */
const beyondPassing = 0o067;

/** Holds what agents work on: their directories are behind closed ones, and the modes of their files are the agents'. */
const worktrees = 'worktrees';

/**
 * Makes the data directory, for its user alone. One that others could enter, as earlier versions made it, is closed with
 * everything in it; what belongs to another user, and stays open, is warned of.
 */
export async function openDataDirectory(dataDir: string, log?: Log): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const { mode } = await stat(dataDir);
  if ((mode & beyondPassing) === 0) {
    return;
  }
  // The directory itself comes last: a start that was interrupted is done again.
  const open = [...(await closeContents(dataDir)), ...(await close(dataDir, mode))];
  if (open.length > 0) {
    log?.warn({ open: open.slice(0, 10), count: open.length }, 'data directory files accessible to other users');
  }
}

async function closeContents(directory: string): Promise<string[]> {
  const open: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
    if (entry.isSymbolicLink()) {
      continue;
    }
    const path = join(directory, entry.name);
    // Another process may have removed a file meanwhile.
    const { mode } = (await lstat(path).catch(() => undefined)) ?? { mode: 0 };
    if (entry.isDirectory() && entry.name !== worktrees) {
      open.push(...(await closeContents(path)));
    }
    if ((mode & others) !== 0) {
      open.push(...(await close(path, mode)));
    }
  }
  return open;
}

async function close(path: string, mode: number): Promise<string[]> {
  try {
    await chmod(path, mode & 0o7700);
    return [];
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : [path];
  }
}

/**
 * Makes the data directory and marks it as supervised by this process, so that a second supervisor does not adopt, and
 * later stop, the embedded server of the first. The mark of a process that has ended does not count.
 *
 * @returns how to release it
 * @throws DataDirectoryInUseError
 */
export async function claimDataDirectory(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'runtime', 'supervisor.json');
  await openDataDirectory(dataDir);
  await mkdir(join(dataDir, 'runtime'), { recursive: true, mode: 0o700 });
  const self = JSON.stringify(await identify(process.pid));
  for (;;) {
    try {
      // Fails when it exists: of two supervisors at once, one makes it.
      await writeFile(file, self, { flag: 'wx', mode: 0o600 });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    }
    const other = owner.safeParse(await readJson(file)).data;
    if (other && (await isSameProcess(other))) {
      throw new DataDirectoryInUseError(dataDir, other.pid);
    }
    await rm(file, { force: true });
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
