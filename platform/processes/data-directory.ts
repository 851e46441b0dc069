import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isDiskFull } from '../errors/disk-full';
import type { Log } from '../log/log';
import { isOwnDirectory } from './disk/own-directory';
import { runFileExclusive } from './file-mutex';
import { identify, isSameProcess } from './identity';

const owner = z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() });

/** `BOARD_DATA_DIR` names what cannot be made, cannot be written to, or is the directory of something else. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';

  constructor(dataDir: string, reason: string) {
    super(`BOARD_DATA_DIR: ${dataDir} ${reason}`);
  }
}

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

/** Errors of paths that another try would meet again, unlike a full disk or too many open files. */
const lastingErrors: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EEXIST',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
]);

/**
 * Makes the data directory where it is absent, and a file in it, which is removed: permissions do not show that a file system is
 * read-only, or takes no files at all, as those of the kernel.
 *
 * @throws DataDirectoryError, or the system's error for what may pass
 */
export async function makeDataDirectory(dataDir: string): Promise<void> {
  try {
    await makeDirectory(dataDir);
    const probe = join(dataDir, `probe-${randomUUID()}.tmp`);
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 }).catch(ignoreFullDisk);
    await rm(probe, { force: true });
  } catch (error) {
    if (lastingErrors.has((error as NodeJS.ErrnoException).code)) {
      const { message } = error as Error;
      throw new DataDirectoryError(dataDir, `is not a directory that can be made and written to: ${message}`);
    }
    throw error;
  }
}

/** What is on a full disk can be read. */
function ignoreFullDisk(error: unknown): void {
  if (!isDiskFull(error)) {
    throw error;
  }
}

/** Makes a directory with its parents, one at a time: the recursive `mkdir` of Node.js never ends below `/proc`. */
async function makeDirectory(path: string): Promise<void> {
  if (await isDirectory(path)) {
    return;
  }
  await makeDirectory(dirname(path));
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!(await isDirectory(path))) {
      throw error;
    }
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Makes the data directory, for its user alone. One that others could enter, as earlier versions made it, is closed with
 * everything in it; what belongs to another user, and stays open, is warned of. A directory of something else is left as it is.
 *
 * @throws DataDirectoryError
 */
export async function openDataDirectory(dataDir: string, log?: Log): Promise<void> {
  await makeDataDirectory(dataDir);
  const { mode } = await stat(dataDir);
  if ((mode & beyondPassing) === 0) {
    return;
  }
  if (!(await isOwnDirectory(dataDir))) {
    throw new DataDirectoryError(
      dataDir,
      'holds files of something else, which would be closed to other users. Name an empty directory.',
    );
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

/** How long another start may take to claim the directory. */
const claimWithinMs = 10_000;

/**
 * Makes the data directory and marks it as supervised by this process, so that a second supervisor does not adopt, and
 * later stop, the embedded server of the first. The mark of a process that has ended does not count; of several that find
 * it at once, one takes its place.
 *
 * @returns how to release it
 * @throws DataDirectoryError, DataDirectoryInUseError
 */
export async function claimDataDirectory(dataDir: string): Promise<() => Promise<void>> {
  const runtime = join(dataDir, 'runtime');
  await openDataDirectory(dataDir);
  await mkdir(runtime, { recursive: true, mode: 0o700 });
  const file = join(runtime, 'supervisor.json');
  const claimed = await runFileExclusive(join(runtime, 'supervisor.lock'), claimWithinMs, async () => {
    await claim(dataDir, file);
    return true;
  });
  if (!claimed) {
    throw new DataDirectoryError(dataDir, 'has been claimed by another start of the service for 10 seconds.');
  }
  return () => rm(file, { force: true });
}

async function claim(dataDir: string, file: string): Promise<void> {
  const other = owner.safeParse(await readJson(file)).data;
  if (other && (await isSameProcess(other))) {
    throw new DataDirectoryInUseError(dataDir, other.pid);
  }
  await rm(file, { force: true });
  await writeFile(file, JSON.stringify(await identify(process.pid)), { flag: 'wx', mode: 0o600 });
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
