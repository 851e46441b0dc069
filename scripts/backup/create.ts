import { existsSync } from 'node:fs';
import { lstat, mkdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { version } from '../../package.json';
import { syncPath } from '../../platform/processes/disk/sync-path';
import type { Report } from '../../platform/temporal/embedded/progress';
import { snapshotDatabases } from '../../stores/sqlite/snapshot';
import { databases, databasesOf, isCopied } from './contents';
import { copyTree, readTree, type Tree } from './copy-tree';
import { BackupError, format, type Manifest, names, sha256Of, sumLine, writeDurably } from './manifest';
import { meterOf } from './meter';

export interface BackupOptions {
  dataDir: string;
  /** The directory that becomes the backup; nothing is there yet. */
  target: string;
  /** Accepts that stores or Temporal are elsewhere. */
  filesOnly: boolean;
  /** Of the configuration: what of the data is elsewhere. */
  elsewhere: readonly string[];
  report: Report;
}

/**
 * Makes a backup of a data directory, also while the board runs. The databases are those of one instant; files are those of then or
 * of a moment later. Until it is complete it has another name.
 *
 * @throws BackupError, StoreUnavailableError, UnsettledDirectoryError, and the system's errors
 */
export async function createBackup({
  dataDir,
  target,
  filesOnly,
  elsewhere,
  report,
}: BackupOptions): Promise<Manifest> {
  const found = await assertSource(dataDir, { filesOnly, elsewhere });
  await assertTarget(dataDir, target);
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.unfinished`);
  const data = join(draft, names.data);
  await mkdir(data, { recursive: true, mode: 0o700 });
  try {
    for (const path of found) {
      await mkdir(dirname(join(data, path)), { recursive: true });
    }
    report(`copying ${found.length} databases`);
    await snapshotDatabases(found.map((path) => ({ from: join(dataDir, path), to: join(data, path) })));
    const tree = await copyTree(dataDir, data, { isWanted: isCopied, copied: meterOf('copying files', report) });
    const manifest = await seal(draft, { tree, databases: found, filesOnly, report });
    await rename(draft, target);
    await syncPath(dirname(target));
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

async function assertSource(
  dataDir: string,
  { filesOnly, elsewhere }: { filesOnly: boolean; elsewhere: readonly string[] },
): Promise<string[]> {
  const [board, temporal] = databases;
  if (!existsSync(join(dataDir, 'tasks')) && !existsSync(join(dataDir, board))) {
    throw new BackupError(
      `${dataDir} is not the data directory of a board. Name it with --data-dir or BOARD_DATA_DIR.`,
    );
  }
  const found = databasesOf(dataDir);
  const missing = [
    ...elsewhere,
    ...(found.includes(board) ? [] : ['the stores']),
    ...(found.includes(temporal) ? [] : ['the database of Temporal']),
  ];
  if (missing.length > 0 && !filesOnly) {
    throw new BackupError(
      `Not in this data directory: ${[...new Set(missing)].join(', ')}. Back those up with their own tools (docs/operate/backup.md), ` +
        'and repeat this with --files-only.',
    );
  }
  return found;
}

async function assertTarget(dataDir: string, target: string): Promise<void> {
  if (await lstat(target).catch(() => undefined)) {
    throw new BackupError(`${target} exists already. Name a directory that does not.`);
  }
  const parent = dirname(target);
  if (!(await stat(parent).catch(() => undefined))?.isDirectory()) {
    throw new BackupError(`${parent} is not a directory. Make it first.`);
  }
  const [inside, outside] = await Promise.all([realpath(parent), realpath(dataDir)]);
  if (`${inside}${sep}`.startsWith(`${outside}${sep}`)) {
    throw new BackupError(`${target} is in the data directory ${resolve(dataDir)}. Name a directory outside of it.`);
  }
}

async function seal(
  draft: string,
  {
    tree,
    databases: found,
    filesOnly,
    report,
  }: { tree: Tree; databases: string[]; filesOnly: boolean; report: Report },
): Promise<Manifest> {
  const data = join(draft, names.data);
  const copies = [...(await readTree(data)).files.keys()].sort();
  const meter = meterOf('computing checksums', report);
  const lines: string[] = [];
  let bytes = 0;
  for (const [index, path] of copies.entries()) {
    lines.push(sumLine(await sha256Of(join(data, path)), `${names.data}/${path}`));
    bytes += (await stat(join(data, path))).size;
    meter(index + 1, copies.length);
  }
  await writeDurably(join(draft, names.sums), lines.join(''));
  const manifest: Manifest = {
    format,
    version,
    createdAt: new Date().toISOString(),
    databases: found,
    filesOnly,
    files: copies.length,
    bytes,
    links: Object.fromEntries(tree.links),
    directories: tree.directories,
    sumsDigest: await sha256Of(join(draft, names.sums)),
  };
  await writeDurably(join(draft, names.manifest), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return manifest;
}
