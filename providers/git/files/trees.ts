import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { copyFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { compact } from '../../../platform/json/compact';
import { GitError, isDamagedIndex, listedPaths } from '../git-error';
import { readRefFile } from '../refs/ref-files';
import { gitFields, type GitRunner, gitText } from '../run-git';
import { fromFiles, type RepositoryFiles } from '../settings/from-files';
import { readStatus, type WorktreeStatus } from '../status';
import type { WorktreeLocation } from '../worktrees/worktree-location';
import { type IndexEntry, readIndex } from './index-file';
import { type CommitHead, rememberCommit, rememberedCommit } from './recent-commits';

/** Makes git use another index. */
type IndexVariables = { GIT_INDEX_FILE: string };

/** Runs `work` with a copy of the worktree's index, so that the real one is not touched. */
export async function withIndexCopy<T>(
  location: WorktreeLocation,
  work: (env: IndexVariables) => Promise<T>,
): Promise<T> {
  const index = join(location.gitDir, 'index');
  const copy = join(location.gitDir, `board-index-${randomUUID()}`);
  try {
    const { mtime } = await stat(index);
    await copyFile(index, copy);
    // Git takes an entry that is as young as its index for possibly changed. A copy with a later time than the
    // original would hide changes made in the same instant; one with an earlier time only costs a comparison.
    const older = new Date(mtime.getTime() - 1_000);
    await utimes(copy, older, older);
  } catch (error) {
    // A worktree without an index is one in which nothing is tracked.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
  try {
    return await work({ GIT_INDEX_FILE: copy });
  } finally {
    await Promise.all([copy, `${copy}.lock`].map((path) => rm(path, { force: true })));
  }
}

/** A repository inside the worktree that is tracked: a submodule, or an agent's imitation of one. */
export interface TrackedRepository {
  path: string;
  /** The commit it is tracked at. */
  commit: string;
}

/** Entries of an index that git does not compare: files with such marks, and repositories inside. */
interface Blind {
  assumed: string[];
  skipped: string[];
  repositories: TrackedRepository[];
}

async function blindSpots(git: GitRunner, cwd: string, env?: IndexVariables): Promise<Blind> {
  const entries = await readIndex(git, cwd, env);
  const pathsOf = (marked: (entry: IndexEntry) => boolean): string[] => entries.filter(marked).map(({ path }) => path);
  const repositories = entries
    .filter(({ mode }) => mode === repositoryMode)
    .map(({ path, object }) => ({ path, commit: object }));
  return { assumed: pathsOf(({ assumed }) => assumed), skipped: pathsOf(({ skipped }) => skipped), repositories };
}

/** How an index lists a repository inside the worktree. */
const repositoryMode = 0o160000;

/** Whether changes could be hidden from `readStatus` by marks, and the repositories inside that it does not look into. */
export async function unseenByStatus(
  git: GitRunner,
  cwd: string,
): Promise<{ hidden: boolean; repositories: TrackedRepository[] }> {
  const { assumed, skipped, repositories } = await blindSpots(git, cwd);
  return { hidden: assumed.length + skipped.length > 0, repositories };
}

/**
 * Removes marks that make git ignore changes of a file (`assume-unchanged`, and `skip-worktree` where no sparse
 * checkout explains it): changes behind them would be neither stored nor undone.
 */
export async function revealHiddenFiles(
  git: GitRunner,
  cwd: string,
  env?: IndexVariables,
): Promise<TrackedRepository[]> {
  const inIndex = { cwd, ...compact({ env }) };
  const { assumed, skipped, repositories } = await blindSpots(git, cwd, env);
  const update = async (flag: string, paths: string[]): Promise<void> => {
    if (paths.length === 0) {
      return;
    }
    await git(['update-index', flag, '-z', '--stdin'], { ...inIndex, input: `${paths.join('\0')}\0` });
  };
  await update('--no-assume-unchanged', assumed);
  if (skipped.length === 0) {
    return repositories;
  }
  const config = ['config', '--type=bool', '--default=false', '--get', 'core.sparseCheckout'];
  const sparse = await gitText(git, config, { cwd });
  if (sparse !== 'true') {
    await update('--no-skip-worktree', skipped);
  }
  return repositories;
}

/**
 * Writes the worktree as a tree: everything that is tracked or untracked, but not ignored. What is tracked is what HEAD
 * has when the index is damaged.
 *
 * @param instead texts that stand for the content of files that are too large to be read, by path
 */
export async function writeWorktreeTree(
  git: GitRunner,
  location: WorktreeLocation,
  instead: ReadonlyMap<string, string> = new Map(),
): Promise<string> {
  return (await writeWorktree(git, location, instead)).tree;
}

/** The same, with the paths that git could not add: they are in no tree. A repository without a commit ends with a slash. */
export function writeWorktree(
  git: GitRunner,
  location: WorktreeLocation,
  instead: ReadonlyMap<string, string> = new Map(),
): Promise<{ tree: string; skipped: string[] }> {
  const cwd = location.path;
  return withIndexCopy(location, async (env) => {
    const repositories = await revealHiddenFiles(git, cwd, env).catch(async (error: unknown) => {
      if (!isDamagedIndex(error)) {
        throw error;
      }
      await rm(env.GIT_INDEX_FILE, { force: true });
      await git(['read-tree', 'HEAD'], { cwd, env });
      return revealHiddenFiles(git, cwd, env);
    });
    await forgetRepositories(git, repositories, { cwd, env });
    const added = await git(['add', '--all', '--ignore-errors', ...leavingOut(instead)], {
      cwd,
      env,
      okCodes: [1],
      ...(instead.size === 0 ? {} : { input: pathspecs(instead) }),
    });
    const skipped = added.exitCode === 0 ? [] : await notAdded(git, { cwd, env });
    if (skipped.length > 0) {
      git.log?.warn({ worktree: cwd, skipped: skipped.slice(0, listedPaths) }, 'unreadable worktree files skipped');
    }
    await restoreEmpty(git, repositories, { cwd, env });
    await putInstead(git, instead, { cwd, env });
    return { tree: await gitText(git, ['write-tree'], { cwd, env }), skipped };
  });
}

const notAdded = async (git: GitRunner, inIndex: { cwd: string; env: IndexVariables }): Promise<string[]> => [
  ...new Set(await gitFields(git, ['ls-files', '--others', '--modified', '--exclude-standard', '-z'], inIndex)),
];

const leavingOut = (instead: ReadonlyMap<string, string>): string[] =>
  instead.size === 0 ? [] : ['--pathspec-from-file=-', '--pathspec-file-nul'];

/** Everything but these files. */
const pathspecs = (instead: ReadonlyMap<string, string>): string =>
  [':(top)', ...[...instead.keys()].map((path) => `:(top,exclude,literal)${path}`)].map((spec) => `${spec}\0`).join('');

async function putInstead(
  git: GitRunner,
  instead: ReadonlyMap<string, string>,
  { cwd, env }: { cwd: string; env: IndexVariables },
): Promise<void> {
  for (const [path, input] of instead) {
    const object = await gitText(git, ['hash-object', '-w', '--stdin'], { cwd, env, input });
    await git(['update-index', '-z', '--index-info'], { cwd, env, input: `100644 ${object}\t${path}\0` });
  }
}

/**
 * Takes repositories inside the worktree out of an index, so that git finds them again, by their HEAD. Those that it tracks
 * it would ask for their state: it runs itself in them then, with their own configuration and its programs.
 */
async function forgetRepositories(
  git: GitRunner,
  repositories: readonly TrackedRepository[],
  { cwd, env }: { cwd: string; env: IndexVariables },
): Promise<void> {
  if (repositories.length === 0) {
    return;
  }
  const input = repositories.map(({ path }) => `${path}\0`).join('');
  await git(['update-index', '--force-remove', '-z', '--stdin'], { cwd, env, input });
}

/** Restores repositories in an index that were never fetched: an empty directory stands for them. */
async function restoreEmpty(
  git: GitRunner,
  repositories: readonly TrackedRepository[],
  { cwd, env }: { cwd: string; env: IndexVariables },
): Promise<void> {
  const isEmpty = ({ path }: TrackedRepository): boolean => {
    try {
      return readdirSync(join(cwd, path)).length === 0;
    } catch {
      return false;
    }
  };
  const input = repositories
    .filter(isEmpty)
    .map(({ path, commit }) => `160000 ${commit}\t${path}\0`)
    .join('');
  if (input !== '') {
    await git(['update-index', '-z', '--index-info'], { cwd, env, input });
  }
}

/** HEAD, branch and changed paths, also where the index is damaged: then that of HEAD stands for it. */
export async function readStatusOfAny(git: GitRunner, location: WorktreeLocation): Promise<WorktreeStatus> {
  const { path: cwd } = location;
  try {
    return await readStatus(git, cwd);
  } catch (error) {
    if (!isDamagedIndex(error)) {
      throw error;
    }
    return withIndexCopy(location, async (env) => {
      await rm(env.GIT_INDEX_FILE, { force: true });
      await git(['read-tree', 'HEAD'], { cwd, env });
      return readStatus(git, cwd, env);
    });
  }
}

/** Changes the index; a damaged one is deleted before, since the work reads the whole of it from a tree. */
export async function replacingIndex(
  git: GitRunner,
  location: WorktreeLocation,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isDamagedIndex(error)) {
      throw error;
    }
    git.assertHeld();
    await rm(join(location.gitDir, 'index'), { force: true });
    await work();
  }
}

/** Writes the index as a tree. It must have no unmerged entries. */
export function writeIndexTree(git: GitRunner, location: WorktreeLocation): Promise<string> {
  return withIndexCopy(location, (env) => gitText(git, ['write-tree'], { cwd: location.path, env }));
}

export interface CommitRequest {
  tree: string;
  parents: readonly string[];
  message: string;
  /** Seconds since 1970. Given, and not the present: the same state is always the same commit. */
  date: number;
  /** Who made it; Runboard unless given. */
  author?: { name: string; email: string };
}

/** Makes a commit that no branch knows of. */
export async function commitTree(
  git: GitRunner,
  cwd: string,
  { tree, parents, message, date, author }: CommitRequest,
): Promise<string> {
  const when = `@${date} +0000`;
  const authorship: Record<string, string> = author
    ? { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email }
    : {};
  const sha = await gitText(git, ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
    cwd,
    input: message,
    env: { ...authorship, GIT_AUTHOR_DATE: when, GIT_COMMITTER_DATE: when },
  });
  rememberCommit(git, cwd, { sha, tree, date });
  return sha;
}

export interface CommitFacts {
  sha: string;
  tree: string;
  parents: string[];
  /** Seconds since 1970. */
  date: number;
  message: string;
}

/** The commit a name leads to; `undefined` when it leads to none. */
export async function resolveCommit(git: GitRunner, cwd: string, name: string): Promise<string | undefined> {
  const isMissing = ({ commonDir }: RepositoryFiles): true | undefined =>
    readRefFile(commonDir, name) === null || undefined;
  if (name.startsWith('refs/') && (await fromFiles(git, cwd, isMissing))) {
    return undefined;
  }
  const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const { exitCode, stdout } = await git(question, { cwd, okCodes: [1] });
  return exitCode === 0 ? stdout.trim() : undefined;
}

/** Reads a commit; `undefined` when the name leads to none. */
export async function readCommit(git: GitRunner, cwd: string, name: string): Promise<CommitFacts | undefined> {
  const format = '--format=%H%x00%T%x00%P%x00%ct%x00%B';
  const question = ['log', '-1', '--no-show-signature', format, '--end-of-options', `${name}^{commit}`, '--'];
  const fields = await gitText(git, question, { cwd }).catch((error: unknown) => {
    if (error instanceof GitError && error.code === 'unknown-ref') {
      return undefined;
    }
    throw error;
  });
  if (fields === undefined) {
    return undefined;
  }
  const [sha = '', tree = '', parents = '', date = '0', ...message] = fields.split('\0');
  const facts = { sha, tree, parents: parents.split(' ').filter(Boolean), date: Number(date) };
  rememberCommit(git, cwd, facts);
  return { ...facts, message: message.join('\0') };
}

/** The commit of HEAD by its name, for a commit on top of it: git verifies there that it is still there. */
export async function readHeadCommit(git: GitRunner, cwd: string, sha: string): Promise<CommitHead | undefined> {
  return rememberedCommit(git, cwd, sha) ?? (await readCommit(git, cwd, sha));
}
