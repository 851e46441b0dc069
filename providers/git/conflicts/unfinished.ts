import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Stopped, StoppedMerge, StoppedOperation, StoppedRebase } from '../../../contracts/runs/conflict';
import { resolveCommit } from '../files/trees';
import { GitError } from '../git-error';
import { autostashes, unfinishedOperation } from '../operation-state';
import type { GitRunner } from '../run-git';
import { readSmallFile } from '../settings/repository-settings';
import type { WorktreeLocation } from '../worktrees/worktree-location';

/** The most commits that a rebase may still have to apply. */
export const maxRemaining = 1_000;

const stops: readonly string[] = ['rebase', 'merge', 'cherry-pick', 'revert'] satisfies StoppedOperation[];

/** The operation that has stopped in a worktree, if any. A rebase that picks has a mark of cherry-pick too. */
export function stoppedIn(gitDir: string): StoppedOperation | null {
  const rebasing = ['rebase-merge', 'rebase-apply'].some((name) => existsSync(join(gitDir, name)));
  const operation = rebasing ? 'rebase' : unfinishedOperation(gitDir);
  return operation !== undefined && stops.includes(operation) ? (operation as StoppedOperation) : null;
}

/** The commit that is applied to HEAD; `undefined` when that cannot be found out. */
export async function appliedCommit(git: GitRunner, { path, gitDir }: WorktreeLocation): Promise<string | undefined> {
  const operation = stoppedIn(gitDir);
  const names = {
    rebase: 'rebase-merge/stopped-sha',
    merge: 'MERGE_HEAD',
    'cherry-pick': 'CHERRY_PICK_HEAD',
    revert: 'REVERT_HEAD',
  };
  return operation ? commitNamed(git, path, firstLine(gitDir, names[operation])) : undefined;
}

/**
 * Reads what has stopped from where an agent can write too, and verifies it, for a caller who continues or aborts it.
 *
 * @param branch of the task
 * @returns `undefined` when nothing has stopped
 * @throws GitError `conflict` with what to do, when it is not of a kind that can be continued here
 */
export async function readStopped(
  git: GitRunner,
  location: WorktreeLocation,
  branch: string,
): Promise<Stopped | undefined> {
  const operation = stoppedIn(location.gitDir);
  if (operation === null) {
    return undefined;
  }
  if ((await autostashes(location.gitDir)).length > 0) {
    throw byHand(location, operation, 'has put changes away');
  }
  switch (operation) {
    case 'rebase':
      return readRebase(git, location, branch);
    case 'merge':
      return readMerge(git, location);
    default:
      throw byHand(location, operation, 'is not of the kinds that Runboard continues or aborts');
  }
}

async function readRebase(git: GitRunner, location: WorktreeLocation, branch: string): Promise<StoppedRebase> {
  const { path: cwd, gitDir } = location;
  const file = (name: string): string => firstLine(gitDir, `rebase-merge/${name}`);
  if (file('head-name') !== `refs/heads/${branch}`) {
    throw byHand(location, 'rebase', `is not of the branch ${branch}`);
  }
  const [headSha, tip, branchSha, stoppedSha] = await Promise.all([
    resolveCommit(git, cwd, 'HEAD'),
    resolveCommit(git, cwd, `refs/heads/${branch}`),
    commitNamed(git, cwd, file('orig-head')),
    commitNamed(git, cwd, file('stopped-sha')),
  ]);
  if (headSha === undefined || branchSha === undefined || branchSha !== tip) {
    throw byHand(location, 'rebase', 'does not begin where the branch is');
  }
  const last = readState(gitDir, 'rebase-merge/done').trimEnd().split('\n').at(-1) ?? '';
  if (stoppedSha === undefined || !/^(?:pick|p) /.test(last) || existsSync(join(gitDir, 'rebase-merge/amend'))) {
    throw byHand(location, 'rebase', 'has not stopped at the conflict of a commit that it picks');
  }
  return { kind: 'rebase', headSha, branchSha, stoppedSha, remaining: await remainingOf(git, location) };
}

/** The commits that a rebase still has to pick, and only that. */
async function remainingOf(git: GitRunner, location: WorktreeLocation): Promise<string[]> {
  const names = remainingNames(location.gitDir);
  if (names === undefined) {
    throw byHand(location, 'rebase', 'does more than to pick commits');
  }
  if (names.length > maxRemaining) {
    throw byHand(location, 'rebase', `has ${names.length} more commits to apply, of at most ${maxRemaining}`);
  }
  const input = names.map((name) => `${name}^{commit}\n`).join('');
  const { stdout } = await git(['cat-file', '--batch-check=%(objectname)'], { cwd: location.path, input });
  const commits = stdout.split('\n').filter((line) => /^[0-9a-f]{40,64}$/.test(line));
  if (commits.length !== names.length) {
    throw byHand(location, 'rebase', 'names commits that do not exist');
  }
  return commits;
}

/** What the list of a rebase still picks; `undefined` when it has other commands, or cannot be read. */
export function remainingNames(gitDir: string): string[] | undefined {
  const lines = readState(gitDir, 'rebase-merge/git-rebase-todo').split('\n');
  const commands = lines.filter((line) => line.trim() !== '' && !line.startsWith('#') && line.trim() !== 'noop');
  const names = commands.map((line) => /^(?:pick|p) ([0-9a-f]{4,64})(?: .*)?$/.exec(line)?.[1]);
  return names.every((name) => name !== undefined) ? names : undefined;
}

async function readMerge(git: GitRunner, location: WorktreeLocation): Promise<StoppedMerge> {
  const { path: cwd, gitDir } = location;
  const names = readState(gitDir, 'MERGE_HEAD').split('\n').filter(Boolean);
  const [headSha, ...heads] = await Promise.all([
    resolveCommit(git, cwd, 'HEAD'),
    ...names.slice(0, 16).map((name) => commitNamed(git, cwd, name)),
  ]);
  const known = heads.filter((head) => head !== undefined);
  if (headSha === undefined || known.length !== names.length) {
    throw byHand(location, 'merge', 'names commits that do not exist');
  }
  return { kind: 'merge', headSha, heads: known };
}

const commitNamed = async (git: GitRunner, cwd: string, name: string): Promise<string | undefined> =>
  /^[0-9a-f]{4,64}$/.test(name) ? resolveCommit(git, cwd, name) : undefined;

const firstLine = (gitDir: string, name: string): string => readState(gitDir, name).split('\n')[0] ?? '';

/** A file of a worktree's own; the directory was verified to hold no links. */
const readState = (gitDir: string, name: string): string => readSmallFile(join(gitDir, name));

const byHand = ({ path }: WorktreeLocation, operation: string, why: string): GitError =>
  new GitError('conflict', `The ${operation} in ${path} ${why}; finish or abort it there with git ${operation}.`);
