import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { syncPath } from '../../platform/processes/disk/sync-path';
import type { Report } from '../../platform/temporal/embedded/progress';
import { copyDurably, copyFiles, readTree } from './copy-tree';
import { BackupError, type Manifest, names, readManifest, sha256Of } from './manifest';
import { meterOf } from './meter';

export interface RestoreOptions {
  backup: string;
  /** The data directory to be; nothing is there yet. */
  dataDir: string;
  report: Report;
}

/**
 * Makes a data directory of a backup, and verifies all that it writes. Until it is complete it has another name, so that an interrupted
 * one leaves nothing that a board would start on.
 *
 * @throws BackupError when the backup is damaged or something is where the data directory is to be
 */
export async function restoreBackup({ backup, dataDir, report }: RestoreOptions): Promise<Manifest> {
  const { manifest, sums } = await readManifest(backup);
  await assertVacant(dataDir);
  const data = join(backup, names.data);
  const paths = await assertComplete(data, { manifest, sums });
  const draft = join(dirname(dataDir), `.${basename(dataDir)}.${process.pid}.unfinished`);
  await mkdir(draft, { mode: 0o700 });
  try {
    for (const path of manifest.directories) {
      await mkdir(join(draft, path), { recursive: true });
    }
    await copyFiles(paths, {
      copyOne: async (path) => {
        await copyDurably(join(data, path), join(draft, path));
        if ((await sha256Of(join(draft, path))) !== sums.get(`${names.data}/${path}`)) {
          throw new BackupError(`The backup is damaged: ${path} is not what its checksum was made of.`);
        }
      },
      copied: meterOf('restoring files', report),
    });
    // Last, so that nothing is written through one.
    for (const [path, target] of Object.entries(manifest.links)) {
      await symlink(target, join(draft, path));
    }
    await rmdir(dataDir).catch(() => undefined);
    await rename(draft, dataDir);
    await syncPath(dirname(dataDir));
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

async function assertVacant(dataDir: string): Promise<void> {
  const stats = await lstat(dataDir).catch(() => undefined);
  if (stats && !(stats.isDirectory() && (await readdir(dataDir)).length === 0)) {
    throw new BackupError(`${dataDir} is not empty. Name a directory that does not exist: nothing is ever replaced.`);
  }
  if (!existsSync(dirname(dataDir))) {
    throw new BackupError(`${dirname(dataDir)} is not a directory. Make it first.`);
  }
}

const isInside = (path: string): boolean =>
  path !== '' && !isAbsolute(path) && normalize(path) === path && !path.split('/').includes('..');

/** The paths of the files, which are exactly those with checksums. */
async function assertComplete(
  data: string,
  { manifest, sums }: { manifest: Manifest; sums: ReadonlyMap<string, string> },
): Promise<string[]> {
  const outside = [...manifest.directories, ...Object.keys(manifest.links)].find((path) => !isInside(path));
  if (outside !== undefined) {
    throw new BackupError(`The backup names a path outside of itself: ${outside}`);
  }
  const { files } = await readTree(data);
  const missing = [...sums.keys()].find((path) => !files.has(path.slice(names.data.length + 1)));
  if (missing !== undefined) {
    throw new BackupError(`The backup is not complete: ${missing} is missing.`);
  }
  const added = [...files.keys()].find((path) => !sums.has(`${names.data}/${path}`));
  if (added !== undefined) {
    throw new BackupError(`The backup has a file without a checksum: ${added}`);
  }
  return [...files.keys()];
}
