import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asOperator } from '../../../platform/processes/operator-umask';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { locateRepository } from '../settings/repository-location';
import { readLinkedWorktree, readPath } from './linked-worktree';
import {
  administrationDamage,
  isGone,
  replaced,
  verifyAdministration,
  verifyDirectory,
  type WorktreeIdentity,
} from './verify-worktree';

/** Where the parts of a worktree are. All paths are absolute. */
export interface WorktreeLocation {
  path: string;
  /** The worktree's own administrative directory: its HEAD, index and state. */
  gitDir: string;
  /** The repository's: objects, branches and other references. */
  commonDir: string;
  identity: WorktreeIdentity;
}

/** What was recorded of a worktree. Absent: of a record that is older than the field. */
export interface RecordedWorktree {
  worktreePath: string;
  identity?: WorktreeIdentity | undefined;
}

const notThere = (path: string): GitError => new GitError('not-a-repository', `${path} is not a worktree of its own.`);

/**
 * Verifies that a worktree is the one that was recorded, and finds its parts; a directory inside a worktree is not one.
 * From then on, commands in it are about this repository, whatever its `.git` is by then.
 *
 * @throws GitError `worktree-replaced`, `not-a-repository`
 */
export function locateWorktree(
  git: GitRunner,
  { worktreePath, identity: recorded }: RecordedWorktree,
): WorktreeLocation {
  const identity = verifyRecorded({ worktreePath, identity: recorded });
  if (!identity) {
    throw notThere(worktreePath);
  }
  const linked = readLinkedWorktree(worktreePath) ?? primaryCheckout(worktreePath);
  if (linked.gitDir !== linked.commonDir) {
    verifyAdministration(linked.gitDir, worktreePath);
    // By its name, which a link that replaces it has as well.
    const linkName = basename(readPath(join(worktreePath, '.git'), 'gitdir: ') ?? '');
    if (linked.gitDir !== join(linked.commonDir, 'worktrees', linkName)) {
      throw new GitError(
        'worktree-replaced',
        `${worktreePath} does not belong to ${linked.commonDir} as it was recorded.`,
      );
    }
  }
  git.repositories.pin(worktreePath, linked);
  return { ...linked, path: worktreePath, identity };
}

/** A worktree that is not linked to a repository, but has it. */
function primaryCheckout(path: string): Omit<WorktreeLocation, 'identity'> {
  const { workTree, gitDir, commonDir } = locateRepository(path);
  if (workTree !== path || gitDir !== commonDir) {
    throw notThere(path);
  }
  return { path, gitDir, commonDir };
}

/**
 * Like `locateWorktree`, for a worktree an agent may have damaged: a removed or changed `.git` link is restored first, and
 * so is a directory that is gone.
 *
 * @param recorded.gitDir the administrative directory that was recorded when the worktree was whole
 * @throws GitError `worktree-replaced`, `worktree-removed`, `repository-damaged`: the worktree is lost; `not-a-repository` when
 *   it cannot be read
 */
export async function relocateWorktree(
  git: GitRunner,
  recorded: RecordedWorktree & { gitDir?: string | undefined },
): Promise<WorktreeLocation> {
  const { worktreePath, gitDir } = recorded;
  if (gitDir === undefined) {
    return locateWorktree(git, recorded);
  }
  try {
    const location = locateWorktree(git, recorded);
    if (location.gitDir === gitDir) {
      return location;
    }
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'not-a-repository') {
      throw error;
    }
  }
  refuseDamage(worktreePath, gitDir);
  const { commonDir } = locateRepository(gitDir);
  if (commonDir === gitDir) {
    throw notThere(worktreePath);
  }
  verifyAdministration(gitDir, worktreePath);
  const identity = verifyRecorded(recorded);
  if (!identity) {
    remake(worktreePath);
  }
  await relink(worktreePath, gitDir);
  return locateWorktree(git, recorded);
}

/** What git cannot do without in the directory of a repository. */
const neededParts = ['HEAD', 'objects', 'refs'];

/**
 * Refuses a worktree that no repetition finds again, because an agent has removed what its repository has of it. Where the
 * directory above is gone too, a disk may be missing, which an operator mounts again.
 */
function refuseDamage(worktreePath: string, gitDir: string): void {
  const commonDir = dirname(dirname(gitDir));
  if (basename(dirname(gitDir)) !== 'worktrees' || isGone(dirname(commonDir))) {
    return;
  }
  const missing = neededParts.map((name) => join(commonDir, name)).find(isGone);
  if (missing !== undefined) {
    throw new GitError('repository-damaged', `${missing} is gone, which git cannot do without.`);
  }
  const damage = administrationDamage(gitDir);
  if (damage === undefined) {
    return;
  }
  if (isGone(gitDir) && isGone(worktreePath)) {
    throw new GitError('worktree-removed', `${worktreePath} was removed, and so was ${gitDir}.`);
  }
  throw replaced(worktreePath, damage);
}

/** Directories that were gone and that this process has made again, by their path. */
const remade = new Map<string, WorktreeIdentity>();

/** The identity expected at a path: the recorded one, or that of a directory we made there since. */
function expectedAt(path: string, recorded: WorktreeIdentity | undefined): WorktreeIdentity | undefined {
  const again = remade.get(path);
  if (!again) {
    return recorded;
  }
  try {
    verifyDirectory(path, again);
    return again;
  } catch {
    return recorded;
  }
}

/** Makes sure that a worktree is the directory that was recorded, or that this process has made again; see `verifyDirectory`. */
export const verifyRecorded = ({ worktreePath, identity }: RecordedWorktree): WorktreeIdentity | undefined =>
  verifyDirectory(worktreePath, expectedAt(worktreePath, identity));

/** The identity of a directory that was gone and that this process has made again; `undefined` for any other. */
export const remadeAt = (path: string): WorktreeIdentity | undefined => expectedAt(path, undefined);

/** Makes the directory of a worktree again. Those above it have to be there: only an operator removes them. */
function remake(path: string): void {
  asOperator(() => mkdirSync(path));
  const identity = verifyDirectory(path);
  if (identity) {
    remade.set(path, identity);
  }
}

async function relink(worktreePath: string, gitDir: string): Promise<void> {
  const link = join(worktreePath, '.git');
  // A repository the agent made instead is its work: it is moved aside, not deleted.
  if (lstatSync(link, { throwIfNoEntry: false })) {
    await rename(link, join(gitDir, `replaced-${Date.now()}`));
  }
  await writeLink(link, gitDir);
}

/** Writes the file that leads from a worktree to its administrative directory, through nothing that is there. */
export async function writeLink(link: string, gitDir: string): Promise<void> {
  const temporary = join(gitDir, `board-link-${randomUUID()}`);
  try {
    asOperator(() => writeFileSync(temporary, `gitdir: ${gitDir}\n`, { flag: 'wx' }));
    await rename(temporary, link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') {
      throw error;
    }
    await rm(link, { force: true });
    asOperator(() => writeFileSync(link, `gitdir: ${gitDir}\n`, { flag: 'wx' }));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Verifies once more that a worktree is where it was found, right before something in it is changed. */
export function verifyStill({ path, gitDir, commonDir, identity }: WorktreeLocation): void {
  if (!verifyDirectory(path, identity)) {
    throw notThere(path);
  }
  if (gitDir !== commonDir) {
    verifyAdministration(gitDir, path);
  }
}
