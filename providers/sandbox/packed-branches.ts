import { chown, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isInside, realLocation } from './paths';
import { SandboxError } from './sandbox-error';

/** How long another program may hold the lock of a branch, and from when on it has left it behind, in milliseconds. */
const lock = { waitMs: 2_000, everyMs: 20, abandonedAfterMs: 60_000 } as const;

/**
 * Gives each packed branch of a directory a file of its own, under git's lock of the branch: what has no file cannot be mounted, and
 * an agent that may make files in the directory would move the branch by making its file.
 *
 * @param common the directory of the repository
 * @param directory of branches, below `refs/heads`
 * @param own the one branch that needs none
 */
export async function unpackBranches(common: string, directory: string, own: string): Promise<void> {
  for (const [name, value] of await packedBranches(common)) {
    const path = join(common, name);
    if (path === own || !isInside(path, directory) || (await exists(path))) {
      continue;
    }
    await unpack(common, { name, path, value });
  }
}

interface Branch {
  name: string;
  path: string;
  value: string;
}

async function unpack(common: string, { name, path, value }: Branch): Promise<void> {
  if ((await realLocation(path)) !== join(await realpath(common), name)) {
    throw new SandboxError(`The branch ${name} of the repository leads out of it by a symbolic link.`);
  }
  const facts = await stat(join(common, 'refs', 'heads'));
  const made = await mkdir(dirname(path), { recursive: true });
  // Those who may move the branch may do so as before; a service that may give nothing away has made what is its own.
  const { uid, gid } = facts;
  if (made !== undefined) {
    await chown(made, uid, gid).catch(() => undefined);
  }
  const locked = `${path}.lock`;
  const file = await lockOf(locked, name);
  let isReplaced = false;
  try {
    // It may have been moved or deleted before it was locked.
    const current = (await packedBranches(common)).get(name);
    if (current === value && !(await exists(path))) {
      await file.writeFile(`${value}\n`);
      await file.chown(uid, gid).catch(() => undefined);
      await file.chmod(0o644 | (facts.mode & 0o020));
      await file.close();
      await rename(locked, path);
      isReplaced = true;
    }
  } finally {
    if (!isReplaced) {
      await file.close().catch(() => undefined);
      await rm(locked, { force: true });
    }
  }
}

/** @throws SandboxError while another program has it */
async function lockOf(path: string, name: string) {
  for (let waited = 0; waited <= lock.waitMs; waited += lock.everyMs) {
    try {
      return await open(path, 'wx');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    }
    const since = (await lstat(path).catch(() => undefined))?.ctimeMs;
    if (since !== undefined && Date.now() - since > lock.abandonedAfterMs) {
      await rm(path, { force: true }).catch(() => undefined);
    }
    await delay(lock.everyMs);
  }
  throw new SandboxError(`The branch ${name} of the repository is locked by another program.`);
}

/** The branches that are packed, by their full names. */
async function packedBranches(common: string): Promise<Map<string, string>> {
  const packed = await readFile(join(common, 'packed-refs'), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return '';
    }
    throw error;
  });
  const lines = packed.matchAll(/^([0-9a-f]{40,64}) (refs\/heads\/\S+)$/gm);
  return new Map([...lines].map(([, value = '', name = '']) => [name, value]));
}

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined)) !== undefined;
