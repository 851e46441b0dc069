import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { recordedPath } from '../files/safe-path';
import { resolveCommit } from '../files/trees';
import { GitError } from '../git-error';
import { assertBranchName, assertObjectName } from '../refs/names';
import { onOtherBranch } from '../refs/other-branch';
import { type GitRunner, gitText } from '../run-git';
import { fromFiles } from '../settings/from-files';
import { makeShared } from '../settings/private-directory';
import { readPath } from './linked-worktree';
import { clearStaleLocks } from './locks';
import { verifyDirectory, type WorktreeIdentity } from './verify-worktree';
import { readHead } from './worktree-files';
import type { ListedWorktree } from './worktree-git';
import { listWorktrees } from './worktree-list';
import { locateWorktree, type RecordedWorktree, type WorktreeLocation, writeLink } from './worktree-location';

/** Locks a worktree until its files are there: a worktree locked for this reason was never handed over. */
export const preparing = 'board: preparing';

/** Git's own reason while it makes a worktree. */
export const initializing = 'initializing';

export interface WorktreeRequest {
  repositoryPath: string;
  /** Absolute; nothing, an empty directory or the worktree itself. */
  worktreePath: string;
  branch: string;
  /** Where the branch begins if it does not exist yet. */
  baseSha: string;
  /** Which directory it is, when that is recorded; one that is gone is made again. */
  identity?: WorktreeIdentity | undefined;
}

export interface Worktree {
  identity: WorktreeIdentity;
  gitDir: string;
  path: string;
  branch: string;
  headSha: string;
  /** Whether it was made by this call. */
  created: boolean;
  /** The worktrees of the repository as they were right before. */
  worktrees: readonly ListedWorktree[];
}

async function entriesOf(path: string): Promise<string[] | undefined> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw new GitError('conflict', `${path} is in the way: ${(error as Error).message}`);
  }
}

/**
 * Clears the path of a worktree without deleting any files: only a link may go that leads nowhere, or to a worktree
 * that was never handed over.
 */
export async function makeRoom(path: string, half: boolean): Promise<void> {
  const entries = await entriesOf(path);
  if (entries === undefined || entries.length === 0) {
    return;
  }
  const link = await readFile(join(path, '.git'), 'utf8').catch(() => '');
  const target = /^gitdir: (.+)$/m.exec(link)?.[1];
  const worthless = target !== undefined && (half || (await entriesOf(target)) === undefined);
  if (entries.length > 1 || !worthless) {
    throw new GitError('conflict', `${path} exists, and is not a worktree of this repository.`);
  }
  await rm(join(path, '.git'));
  await rmdir(path);
}

/** Git's message on meeting a worktree of the same repository that another git is in the middle of making. */
const metAnother = /failed to read worktrees\//i;

const registerTries = 8;

/**
 * Registers the worktree, without files. `known`: it is registered, but its directory is gone. Git that failed because
 * others register at the same time is asked again, from the start: it may have made the branch before it failed.
 */
async function register(
  git: GitRunner,
  request: WorktreeRequest,
  { cwd, path, known }: { cwd: string; path: string; known: boolean },
) {
  const { branch, baseSha } = request;
  // Twice, because the one that is gone may have been locked. Only then: it also overrides git's other refusals.
  const force = known ? ['--force', '--force'] : [];
  const add = ['worktree', 'add', '--quiet', '--no-checkout', '--lock', '--reason', preparing, ...force];
  // What moves the branch and writes no log of it is found by the log: git would make none from here.
  const config = ['core.logAllRefUpdates=true'];
  for (let tries = 1; ; tries += 1) {
    const exists = await resolveCommit(git, cwd, `refs/heads/${branch}`);
    // Git removes it with the last worktree, and cannot make it by way of our link.
    makeShared(join(cwd, 'worktrees'));
    try {
      await git([...add, ...(exists ? [path, branch] : ['-b', branch, '--no-track', path, baseSha])], { cwd, config });
      return;
    } catch (error) {
      if (tries >= registerTries || !(error instanceof GitError) || !metAnother.test(error.message)) {
        throw error;
      }
      await delay(25 * tries);
    }
  }
}

/** The identity at the path of a worktree. The target of a link is not ours. */
function existingAt(path: string, recorded: WorktreeIdentity | undefined): WorktreeIdentity | undefined {
  try {
    return verifyDirectory(path, recorded);
  } catch (error) {
    if (recorded || !(error instanceof GitError)) {
      throw error;
    }
    throw new GitError('conflict', `${path} is in the way: ${error.message}`);
  }
}

/** Finds a worktree that this repository has registered, and makes its `.git` name the path that every git can use. */
async function locateRegistered(
  git: GitRunner,
  repository: string,
  recorded: RecordedWorktree,
): Promise<WorktreeLocation> {
  const location = locateWorktree(git, recorded);
  const { path, gitDir, commonDir } = location;
  if (commonDir !== repository) {
    throw new GitError('conflict', `${path} belongs to ${commonDir}, not to ${repository}.`);
  }
  const link = join(path, '.git');
  // Git writes the path by which it was given the repository, which is ours alone.
  if (readPath(link, 'gitdir: ') !== gitDir) {
    await writeLink(link, gitDir);
  }
  return location;
}

/** Git lists a HEAD that leads to nothing as zeros. */
const isCommit = (sha: string | null | undefined): sha is string => typeof sha === 'string' && !/^0*$/.test(sha);

/** Writes the files and hands the worktree over. Killed before the end, it is still locked and done again. */
async function populate(git: GitRunner, repository: string, path: string): Promise<void> {
  await git(['reset', '--hard', '--quiet'], { cwd: path });
  await git(['worktree', 'unlock', path], { cwd: repository });
}

async function headOf(git: GitRunner, cwd: string): Promise<string> {
  const inFiles = await fromFiles(git, cwd, ({ commonDir, gitDir }) => readHead(commonDir, gitDir));
  return inFiles?.headSha ?? (await gitText(git, ['rev-parse', '--verify', 'HEAD'], { cwd }));
}

/**
 * Makes sure that the worktree exists on its branch. Already there is success, and what a killed call left is finished;
 * files that others put there are never deleted.
 *
 * @throws GitError `conflict` when the path is taken, or the branch is checked out elsewhere; `unknown-ref` when there
 *   is no such commit
 */
export async function ensureWorktree(git: GitRunner, request: WorktreeRequest): Promise<Worktree> {
  const { branch, baseSha, repositoryPath } = request;
  assertBranchName(branch);
  assertObjectName(baseSha);
  const path = await recordedPath(request.worktreePath);
  const existing = existingAt(path, request.identity);
  await mkdir(dirname(path), { recursive: true });
  const { commonDir: repository } = git.repositories.place(repositoryPath);
  const worktrees = await listWorktrees(git, repository);
  const elsewhere = worktrees.find((worktree) => worktree.branch === branch && worktree.path !== path);
  if (elsewhere) {
    throw new GitError('conflict', `The branch ${branch} is checked out in ${elsewhere.path}.`);
  }

  const registered = worktrees.find((worktree) => worktree.path === path);
  const half = registered?.locked === preparing || registered?.locked === initializing;
  const linked = registered !== undefined && (await entriesOf(path))?.includes('.git') === true;
  const sound = linked && registered.branch === branch;
  if (linked && !sound && !half) {
    throw new GitError('conflict', onOtherBranch(path, { actual: registered.branch, expected: branch }));
  }
  if (!sound) {
    await git.verify();
    await makeRoom(path, half);
    if (!(await resolveCommit(git, repository, baseSha))) {
      throw new GitError('unknown-ref', `The commit ${baseSha} does not exist.`);
    }
    await register(git, request, { cwd: repository, path, known: registered !== undefined });
  }
  const created = !sound || half;
  const identity = existing && sound ? request.identity : undefined;
  const location = await locateRegistered(git, repository, { worktreePath: path, identity });
  const wasLocked = registered !== undefined && (await clearStaleLocks(location, branch, git));
  if (created) {
    await populate(git, repository, path);
  }
  const listed = created || wasLocked ? null : registered.headSha;
  const headSha = isCommit(listed) ? listed : await headOf(git, path);
  return { path, branch, headSha, created, identity: location.identity, gitDir: location.gitDir, worktrees };
}
