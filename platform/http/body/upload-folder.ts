import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { namingFullDisk } from '../../errors/disk-full';

/** Older than any upload may last: its process has died, in milliseconds. */
const abandonedAfterMs = 600_000;

/** Where files are stored while their request is handled. */
export interface UploadFolder {
  /** Runs `use` with a directory of its own, which is removed afterwards with everything in it. */
  withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T>;
}

/**
 * Opens a folder for uploads, which several processes may share. Files of a process that died are removed at the next start, or
 * with a later upload once it is old enough not to be another's.
 */
export async function openUploadFolder(path: string, now: () => number = Date.now): Promise<UploadFolder> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await sweep(path, now() - abandonedAfterMs);
  return {
    async withDirectory(use) {
      await sweep(path, now() - abandonedAfterMs);
      const directory = join(path, `${process.pid}-${randomBytes(8).toString('hex')}`);
      await namingFullDisk('uploads', () => mkdir(directory, { mode: 0o700 }));
      try {
        return await namingFullDisk('uploads', () => use(directory));
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
  };
}

/** Removes what was not modified since `before`. */
async function sweep(path: string, before: number): Promise<void> {
  for (const name of await readdir(path)) {
    const facts = await stat(join(path, name)).catch(() => undefined);
    if (facts && facts.mtimeMs < before) {
      await rm(join(path, name), { recursive: true, force: true });
    }
  }
}
