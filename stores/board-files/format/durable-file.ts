import { randomBytes } from 'node:crypto';
import { close, fsync, futimes, open, writeFile } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { namingFullDisk } from '../../../platform/errors/disk-full';
import { syncPath } from '../../../platform/processes/disk/sync-path';
import { type Fingerprint, fingerprintOf, statNow, statOf } from './read-task-file';

/** An editor that takes no locks changed the file between its read and its write here; read it again. */
export class FileChangedError extends Error {
  override readonly name = 'FileChangedError';
}

/** Operations on a file by its descriptor, which take half of the time of those of a `FileHandle`. */
const byDescriptor = {
  open: promisify(open),
  write: promisify(writeFile) as (descriptor: number, text: string) => Promise<void>,
  date: promisify(futimes),
  sync: promisify(fsync),
  close: promisify(close),
};

/**
 * How long before its writing a file is dated, in milliseconds, which is more than a tick of any file system: another write
 * changes the time of the file then, however soon it follows.
 */
const datedBackMs = 100;

const temporaryName = /^\..+\.md\.\d+-[0-9a-f]{12}\.tmp$/;

/** A write takes milliseconds; a temporary file this old belongs to a process that died. */
const abandonedAfterMs = 60_000;

interface Replacement {
  /** Signature of the file that the text is based on. */
  seen: string | undefined;
  /** Last check before the change becomes visible; throws to call it off. */
  beforeCommit: () => void;
}

/**
 * Replaces the file at `path` by `text`, or makes the file when `seen` is undefined. After a crash at any moment the old or the
 * new file exists, whole.
 *
 * @returns the fingerprint of what is at `path` then, which is fresh when an editor has replaced it already
 * @throws FileChangedError when the file is not the seen one any more; DiskFullError, and then nothing is changed
 */
export function replaceFile(path: string, text: string, replacement: Replacement): Promise<Fingerprint> {
  return namingFullDisk('the task files', () => replace(path, text, replacement));
}

async function replace(path: string, text: string, { seen, beforeCommit }: Replacement): Promise<Fingerprint> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
  const dated = Date.now() - datedBackMs;
  try {
    await writeThrough(temporary, text, dated);
    const stats = statNow(path);
    if ((stats && fingerprintOf(stats).signature) !== seen) {
      throw new FileChangedError(path);
    }
    beforeCommit();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const stats = statNow(path);
  await syncPath(dirname(path));
  const isOurs = stats !== undefined && Math.abs(stats.mtimeMs - dated) < 1;
  return { signature: stats ? fingerprintOf(stats).signature : '', fresh: !isOurs };
}

/** Gives a file another name, on disk too when this returns. @throws FileChangedError when the name is taken */
export async function moveFile(from: string, to: string): Promise<void> {
  if (await statOf(to)) {
    throw new FileChangedError(to);
  }
  await namingFullDisk('the task files', () => rename(from, to));
  await syncPath(dirname(to));
  if (dirname(from) !== dirname(to)) {
    await syncPath(dirname(from));
  }
}

/**
 * Removes a file that is still the seen one, on disk too when this returns.
 *
 * @param beforeCommit last check before the file is gone; throws to call it off
 * @throws FileChangedError when it is another one by now
 */
export async function removeFile(path: string, seen: string, beforeCommit: () => void): Promise<void> {
  const stats = await statOf(path);
  if (!stats || fingerprintOf(stats).signature !== seen) {
    throw new FileChangedError(path);
  }
  beforeCommit();
  await rm(path);
  await syncPath(dirname(path));
}

/** Removes the temporary files of dead processes' unfinished writes. */
export async function sweepTemporaryFiles(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((entry) => temporaryName.test(entry))) {
    const stats = await statOf(join(folder, name));
    if (stats && Date.now() - stats.mtimeMs > abandonedAfterMs) {
      await rm(join(folder, name), { force: true });
    }
  }
}

async function writeThrough(path: string, text: string, dated: number): Promise<void> {
  const descriptor = await byDescriptor.open(path, 'wx');
  try {
    await byDescriptor.write(descriptor, text);
    await byDescriptor.date(descriptor, dated / 1_000, dated / 1_000);
    await byDescriptor.sync(descriptor);
  } finally {
    await byDescriptor.close(descriptor);
  }
}
