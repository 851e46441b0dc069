import { constants, type Stats } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath } from '../../platform/processes/disk/sync-path';

/** A directory in which files come and go so fast that no copy of it can be complete. */
export class UnsettledDirectoryError extends Error {
  override readonly name = 'UnsettledDirectoryError';
}

/** What is in a tree, by its path in it. */
export interface Tree {
  /** With a stamp that changes with the content. */
  files: Map<string, string>;
  directories: string[];
  /** Symbolic links, with where they lead. */
  links: Map<string, string>;
}

const maxPasses = 20;
const atOnce = 8;

const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const orAbsent = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isGone(error)) {
      return undefined;
    }
    throw error;
  }
};

const stamp = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;

/** Lists a tree without following links; sockets and pipes are not in it. */
export async function readTree(root: string, isWanted: (path: string) => boolean = () => true): Promise<Tree> {
  const tree: Tree = { files: new Map(), directories: [], links: new Map() };
  const read = async (directory: string): Promise<void> => {
    for (const name of (await orAbsent(readdir(join(root, directory)))) ?? []) {
      const path = directory === '' ? name : `${directory}/${name}`;
      const stats = isWanted(path) ? await orAbsent(lstat(join(root, path))) : undefined;
      if (stats?.isDirectory()) {
        tree.directories.push(path);
        await read(path);
      } else if (stats?.isSymbolicLink()) {
        tree.links.set(path, (await orAbsent(readlink(join(root, path)))) ?? '');
      } else if (stats?.isFile()) {
        tree.files.set(path, stamp(stats));
      }
    }
  };
  await read('');
  return tree;
}

/**
 * Copies a tree that others change meanwhile, as it is at the end: it is read again until no file has come, gone, moved or changed
 * since it was copied. After many readings a change of contents is accepted: each file is then one that was there a moment before.
 *
 * @param options.copied called with the files that were copied, and how many were to be
 * @throws UnsettledDirectoryError when files still come and go after many readings
 */
export async function copyTree(
  from: string,
  to: string,
  { isWanted, copied }: { isWanted: (path: string) => boolean; copied: (done: number, of: number) => void },
): Promise<Tree> {
  let known = new Map<string, string>();
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const tree = await readTree(from, isWanted);
    const changed = [...tree.files].filter(([path, now]) => known.get(path) !== now).map(([path]) => path);
    const removed = [...known.keys()].filter((path) => !tree.files.has(path));
    const isSamePaths = removed.length === 0 && changed.every((path) => known.has(path));
    if (isSamePaths && (changed.length === 0 || pass === maxPasses)) {
      await Promise.all(tree.directories.map((path) => mkdir(join(to, path), { recursive: true })));
      return tree;
    }
    known = new Map(tree.files);
    for (const path of removed) {
      await rm(join(to, path), { force: true });
    }
    await copyFiles(changed, {
      copyOne: async (path) => {
        if (!(await copyDurably(join(from, path), join(to, path)))) {
          known.delete(path);
        }
      },
      copied,
    });
  }
  throw new UnsettledDirectoryError(
    `Files in ${from} come and go too fast to be copied. Repeat it when less is written.`,
  );
}

/** Copies files, some at the same time. */
export async function copyFiles(
  paths: readonly string[],
  { copyOne, copied }: { copyOne: (path: string) => Promise<void>; copied: (done: number, of: number) => void },
): Promise<void> {
  const left = paths.values();
  let done = 0;
  const lane = async (): Promise<void> => {
    for (const path of left) {
      await copyOne(path);
      done += 1;
      copied(done, paths.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** Copies a file with its times, onto the disk. @returns whether it was there */
export async function copyDurably(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true });
  const stats = await orAbsent(lstat(from));
  if (!stats?.isFile()) {
    return false;
  }
  const done = await orAbsent(copyFile(from, to, constants.COPYFILE_FICLONE).then(() => true));
  if (!done) {
    return false;
  }
  await utimes(to, stats.atime, stats.mtime);
  await syncPath(to);
  return true;
}
