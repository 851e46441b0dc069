import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SandboxError } from './sandbox-error';

/**
 * A branch that a sandbox has to itself. Git replaces the file of a branch, for which it needs the directory of the branch and
 * with it every other branch there. The sandbox therefore gets a directory of its own instead, with a copy of each branch, and
 * outside of it the file of its branch is a link into that directory: both have the same branch, and no other is shared. Git's
 * lock of the branch keeps other programs from replacing the link while it is lent.
 */

/** How long another program may hold the lock of a branch, and from when on it has left it behind, in milliseconds. */
const lock = { waitMs: 2_000, everyMs: 20, abandonedAfterMs: 60_000 } as const;
const mark = 'An agent in a sandbox of Runboard has this branch.\n';
const objectId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** More than any file of a branch has, in bytes. */
const longest = 4_096;

/** Where lent branches are, below the directory of a repository. */
export const lentDirectory = join('board', 'lent');

const isUsable = (branch: string): boolean => branch.split('/').every((part) => part !== '..' && part !== '');

function locationsOf(common: string, branch: string) {
  const ref = join(common, 'refs', 'heads', branch);
  const directory = join(common, lentDirectory, createHash('sha256').update(branch).digest('hex'));
  const file = join(directory, basename(ref));
  return { ref, locked: `${ref}.lock`, directory, file, target: relative(dirname(ref), file) };
}

/** The file that has the value of a branch that is lent; nothing while it is not. */
export async function lentFile(common: string, branch: string): Promise<string | undefined> {
  const { ref, file, target } = locationsOf(common, branch);
  return (await readlink(ref).catch(() => undefined)) === target ? file : undefined;
}

/**
 * Lends a branch to a sandbox; one that is lent already remains so.
 *
 * @param common the directory of the repository
 * @returns the directory that the sandbox has instead of the one of the branch
 * @throws SandboxError while another program has the lock of the branch, and where a link leads out of the repository
 */
export async function lendBranch(common: string, branch: string): Promise<string> {
  const { ref, locked, directory } = locationsOf(common, branch);
  await mkdir(dirname(ref), { recursive: true });
  if ((await realpath(dirname(ref))) !== join(await realpath(common), 'refs', 'heads', dirname(branch))) {
    throw new SandboxError(`The branch ${branch} of the repository leads out of it by a symbolic link.`);
  }
  await takeLock(locked, branch);
  if ((await lentFile(common, branch)) !== undefined) {
    return directory;
  }
  try {
    await lend(common, branch);
  } catch (error) {
    await rm(locked, { force: true });
    throw error;
  }
  return directory;
}

async function lend(common: string, branch: string): Promise<void> {
  const { ref, directory, file, target } = locationsOf(common, branch);
  const isFile = await lstat(ref).catch(() => undefined);
  const value = isFile ? await valueOf(ref) : await packedValue(common, branch);
  if (isFile && value === undefined) {
    throw new SandboxError(`The branch ${branch} of the repository leads elsewhere, or is damaged.`);
  }
  await rm(directory, { recursive: true, force: true });
  const facts = await stat(dirname(ref));
  await openParents(common);
  await copyBranches({ common, from: dirname(ref), to: directory, facts });
  if (value !== undefined) {
    await writeAs(file, value, facts);
    await writeFile(`${directory}.start`, `${value}\n`);
  }
  const link = `${directory}.link`;
  await rm(link, { force: true });
  await symlink(target, link);
  await rename(link, ref);
}

/** Makes the directory of lent branches, through which an agent that is another user gets to its own: it lists none of them. */
async function openParents(common: string): Promise<void> {
  for (const path of [dirname(join(common, lentDirectory)), join(common, lentDirectory)]) {
    await mkdir(path, { recursive: true });
    const facts = await lstat(path);
    if (!facts.isDirectory()) {
      throw new SandboxError(`${relative(common, path)} of the repository leads out of it by a symbolic link.`);
    }
    await chmod(path, (facts.mode & 0o7777) | 0o111);
  }
}

/**
 * Ends the loan of a branch: it is a file again, with the value that the sandbox has left, and unlocked. What is no commit's id
 * is not taken over: then the branch is where it was lent. May be repeated, also after it was interrupted.
 */
export async function returnBranch(common: string, branch: string): Promise<void> {
  if (!isUsable(branch)) {
    return;
  }
  const { ref, locked, directory, file } = locationsOf(common, branch);
  if ((await lentFile(common, branch)) !== undefined) {
    const isLeft = await lstat(file).catch(() => undefined);
    const value = isLeft && ((await valueOf(file)) ?? (await valueOf(`${directory}.start`)));
    if (value === undefined) {
      await rm(ref, { force: true });
    } else {
      await replace(ref, locked, value);
    }
  }
  if ((await readText(locked)) === mark) {
    await rm(locked, { force: true });
  }
  await rm(directory, { recursive: true, force: true });
  await rm(`${directory}.start`, { force: true });
}

/** As git replaces the file of a branch: by its lock. */
async function replace(ref: string, locked: string, value: string): Promise<void> {
  const facts = await stat(dirname(ref));
  const next = await open(locked, 'w');
  try {
    await next.writeFile(`${value}\n`);
    await next.chown(facts.uid, facts.gid).catch(() => undefined);
    await next.chmod(0o644 | (facts.mode & 0o020));
    await next.sync();
  } finally {
    await next.close();
  }
  await rename(locked, ref);
}

interface Copying {
  common: string;
  from: string;
  to: string;
  facts: { uid: number; gid: number; mode: number };
}

/** Copies the branches of a directory; those that are packed are seen without. */
async function copyBranches({ common, from, to, facts }: Copying): Promise<void> {
  await mkdir(to);
  await chown(to, facts.uid, facts.gid).catch(() => undefined);
  await chmod(to, facts.mode & 0o7777);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [path, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      await copyBranches({ common, from: path, to: copy, facts });
    } else if (!entry.name.endsWith('.lock')) {
      const branch = relative(join(common, 'refs', 'heads'), path);
      const value = await valueOf((await lentFile(common, branch)) ?? path);
      await (value === undefined ? undefined : writeAs(copy, value, facts));
    }
  }
}

async function writeAs(path: string, value: string, { uid, gid, mode }: Copying['facts']): Promise<void> {
  await writeFile(path, `${value}\n`);
  await chown(path, uid, gid).catch(() => undefined);
  await chmod(path, 0o644 | (mode & 0o020));
}

/** Takes git's lock of a branch, also one that an interrupted loan has left. */
async function takeLock(path: string, branch: string): Promise<void> {
  for (let waited = 0; waited <= lock.waitMs; waited += lock.everyMs) {
    try {
      await writeFile(path, mark, { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    }
    if ((await readText(path)) === mark) {
      return;
    }
    const since = (await lstat(path).catch(() => undefined))?.ctimeMs;
    if (since !== undefined && Date.now() - since > lock.abandonedAfterMs) {
      await rm(path, { force: true }).catch(() => undefined);
    }
    await delay(lock.everyMs);
  }
  throw new SandboxError(`The branch ${branch} of the repository is locked by another program.`);
}

async function valueOf(path: string): Promise<string | undefined> {
  const text = (await readText(path)).trim();
  return objectId.test(text) ? text : undefined;
}

/** The text of a small file, which an agent may have replaced by a link or a pipe; empty where there is none to read. */
async function readText(path: string): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  try {
    const facts = await file?.stat();
    return file && facts?.isFile() && facts.size <= longest ? await file.readFile('utf8') : '';
  } finally {
    await file?.close();
  }
}

async function packedValue(common: string, branch: string): Promise<string | undefined> {
  const packed = await readFile(join(common, 'packed-refs'), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return '';
    }
    throw error;
  });
  const line = packed.split('\n').find((one) => one.endsWith(` refs/heads/${branch}`));
  return line?.split(' ')[0];
}
