import { lstat, mkdir, open, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { lendBranch, returnBranch } from './lent-branch';
import type { Mount } from './mounts';
import { SandboxError } from './sandbox-error';

/** The repository of a worktree, as it was recorded before the agent ran. */
export interface RecordedRepository {
  /** The administrative directory of the worktree. */
  gitDir: string;
  /** The branch of the worktree; none can be moved without one. */
  branch: string | undefined;
}

/** The branch that is checked out. What runs in the worktree can name another one: it is read before anything does. */
export async function checkedOutBranch(gitDir: string): Promise<string | undefined> {
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8').catch(() => '');
  return /^ref: refs\/heads\/(\S+)\s*$/.exec(head)?.[1];
}

/**
 * What a worktree needs of its repository, and no more: objects can be added, the branch of the worktree can move, and its
 * own index can change. Packs, settings, hooks, other branches, and where the worktree leads to cannot.
 */
export async function gitMounts({ gitDir, branch }: RecordedRepository, worktree: string): Promise<Mount[]> {
  const common = dirname(dirname(gitDir));
  if (basename(dirname(gitDir)) !== 'worktrees') {
    throw new SandboxError(`${gitDir} is not the administrative directory of a worktree.`);
  }
  const read = (path: string): Mount => ({ kind: 'read', path, optional: true });
  const write = (path: string): Mount => ({ kind: 'write', path });
  const objects = join(common, 'objects');
  return [
    { kind: 'read', path: common },
    write(objects),
    read(join(objects, 'pack')),
    read(join(objects, 'info')),
    ...(await branchMounts(common, branch)),
    write(gitDir),
    ...['commondir', 'gitdir', 'config.worktree'].map((name) => read(join(gitDir, name))),
    { kind: 'read', path: join(worktree, '.git') },
  ];
}

/** Ends what `gitMounts` has begun, once nothing runs in the sandbox. */
export async function releaseGit({ gitDir, branch }: RecordedRepository): Promise<void> {
  if (branch !== undefined) {
    await returnBranch(dirname(dirname(gitDir)), branch);
  }
}

/** The branch of the worktree, in a directory of the sandbox's own, and its log. */
async function branchMounts(common: string, branch: string | undefined): Promise<Mount[]> {
  if (branch === undefined || branch.split('/').some((part) => part === '..' || part === '')) {
    return [];
  }
  const ref = join(common, 'refs', 'heads', branch);
  const log = join(common, 'logs', 'refs', 'heads', branch);
  const source = await lendBranch(common, branch);
  await mkdir(dirname(log), { recursive: true });
  await makeLog(log, dirname(ref));
  return [
    { kind: 'write', source, path: dirname(ref) },
    ...((await lstat(log)).isFile() ? [{ kind: 'write', path: log } as const] : []),
  ];
}

/** Git makes the log of a branch when it is missing, in a directory that cannot be written to from inside. */
async function makeLog(log: string, refs: string): Promise<void> {
  const file = await open(log, 'wx').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return undefined;
    }
    throw error;
  });
  if (!file) {
    return;
  }
  try {
    // Those who may move the branch may write its log: agents can have a user of their own.
    const { uid, gid, mode } = await stat(refs);
    await file.chown(uid, gid);
    await file.chmod(0o644 | (mode & 0o020));
  } finally {
    await file.close();
  }
}
