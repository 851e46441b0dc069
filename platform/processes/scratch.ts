import { lstat, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'runboard-scratch-';

/** Longer than any use of a scratch directory: the process that made it was killed. In milliseconds. */
const abandonedAfterMs = 3_600_000;

/**
 * Runs `use` with an empty directory of its own, below the system's temporary directory and for this user only. It is removed
 * afterwards; that of a process which was killed meanwhile is left to {@link removeAbandonedScratch}.
 *
 * @param label what it is for, as part of its name: letters and `-`
 */
export async function withScratchDirectory<T>(label: string, use: (directory: string) => Promise<T>): Promise<T> {
  const { path, remove } = await makeScratchDirectory(label);
  try {
    return await use(path);
  } finally {
    await remove();
  }
}

/** The same for a use that does not end with a call: the caller removes the directory, however long it is used. */
export async function makeScratchDirectory(label: string): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), `${prefix}${label}-`));
  const inUse = setInterval(() => {
    const time = new Date();
    utimes(path, time, time).catch(() => undefined);
  }, abandonedAfterMs / 6).unref();
  const remove = async (): Promise<void> => {
    clearInterval(inUse);
    await rm(path, { recursive: true, force: true });
  };
  return { path, remove };
}

/**
 * Removes the scratch directories of this user that are older than an hour.
 *
 * @returns their paths
 */
export function removeAbandonedScratch(now: () => number = Date.now): Promise<string[]> {
  return removeAbandonedDirectories(tmpdir(), prefix, now);
}

/**
 * Removes the directories of this user whose names begin alike and that were not written to for more than an hour.
 *
 * @param parent none is there when there is no such directory
 * @returns their paths
 */
export async function removeAbandonedDirectories(
  parent: string,
  beginning: string,
  now: () => number = Date.now,
): Promise<string[]> {
  const names = await readdir(parent).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return [];
    }
    throw error;
  });
  const removed: string[] = [];
  for (const name of names) {
    if (name.startsWith(beginning) && (await isAbandoned(join(parent, name), now()))) {
      await rm(join(parent, name), { recursive: true, force: true });
      removed.push(join(parent, name));
    }
  }
  return removed;
}

async function isAbandoned(path: string, at: number): Promise<boolean> {
  // Whatever another user has put there under such a name stays.
  const facts = await lstat(path).catch(() => undefined);
  return (
    facts !== undefined &&
    facts.isDirectory() &&
    facts.uid === process.getuid?.() &&
    at - facts.mtimeMs > abandonedAfterMs
  );
}
