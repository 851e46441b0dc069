import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { verifyRepository } from '../repository/verify-repository';
import { gitFields, type GitRunner } from '../run-git';
import type { WorktreeLocation } from '../worktrees/worktree-location';

/** Moves a file or directory, also to another file system. */
export async function move(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') {
      throw error;
    }
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    await rm(from, { recursive: true, force: true });
  }
}

/** Repositories made inside a worktree, as paths in it. Those in ignored directories are left out. */
export async function nestedRepositories(git: GitRunner, cwd: string): Promise<string[]> {
  const others = await gitFields(git, ['ls-files', '--others', '--exclude-standard', '-z'], { cwd });
  return others.filter((path) => path.endsWith('/'));
}

/** What a worktree's administrative directory may hold that is nowhere else: submodules, and what was moved there. */
const holdsHistory = /^(?:modules|set-aside|replaced-\d+)$/;

/** A submodule's repository names the files it belongs to; with them gone, git would refuse to work in it. */
async function forgetFiles(git: GitRunner, cwd: string, directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true });
  const isRepository = entries.some(({ name }) => name === 'HEAD');
  // Git would write to the file that a link leads to.
  if (isRepository && entries.some((entry) => entry.name === 'config' && entry.isFile())) {
    const config = ['config', '--file', join(directory, 'config'), '--unset-all', 'core.worktree'];
    await git(config, { cwd, okCodes: [5] });
  }
  for (const entry of entries) {
    const mayHold = entry.isDirectory() && (!isRepository || entry.name === 'modules');
    if (mayHold) {
      await forgetFiles(git, cwd, join(directory, entry.name));
    }
  }
}

/** Where repositories that were inside a removed worktree are moved to. */
export const preservedDirectory = (commonDir: string, id: string): string => join(commonDir, 'board', 'set-aside', id);

/**
 * Moves everything out of a worktree that no reference of its repository can preserve: repositories inside of it, its
 * submodules, and what earlier operations have put aside.
 */
export async function preserveNested(git: GitRunner, location: WorktreeLocation, id: string): Promise<void> {
  verifyRepository(location);
  const preserved = preservedDirectory(location.commonDir, id);
  for (const path of await nestedRepositories(git, location.path)) {
    await move(join(location.path, path), join(preserved, 'worktree', path));
  }
  for (const name of await readdir(location.gitDir)) {
    if (!holdsHistory.test(name)) {
      continue;
    }
    if (name === 'modules') {
      await forgetFiles(git, location.commonDir, join(location.gitDir, name));
    }
    await move(join(location.gitDir, name), join(preserved, name));
  }
}
